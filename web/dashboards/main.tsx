import { showPage } from '../shell/show-page.tsx';
import { App } from './app.tsx';

await showPage((config) => <App path={config.dashboards ?? '/dashboards'} />);
