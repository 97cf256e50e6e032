import { showPage } from '../shell/show-page.tsx';
import { App } from './app.tsx';

// They ask this machine, which asks nobody who they are.
await showPage((config) => <App path={config.dashboards ?? '/dashboards'} />, { anybody: true });
