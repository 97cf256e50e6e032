import { showPage } from '../shell/show-page.tsx';
import { SignInPage } from './sign-in-page.tsx';

await showPage((config) => <SignInPage signIn={config.signIn} />, { anybody: true });
