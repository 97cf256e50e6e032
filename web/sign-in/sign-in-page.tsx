import type { JWT_TIMESTAMP_CHECK } from 'oauth4webapi';
import { useEffect, useState } from 'preact/hooks';
import type { SignIn } from '../shell/config.ts';
import { fields, text } from '../shell/read-json.ts';
import { storageRefusal } from '../shell/storage-refusal.ts';
import type { Pending } from './issuer.ts';
import { CHANNEL, goAndSignIn, keepTokens, PENDING } from './open-session.ts';

/** As oauth4webapi calls it: it is loaded when somebody comes back. */
const CLOCK_DIFFERS: typeof JWT_TIMESTAMP_CHECK = 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED';

type Step = 'working' | 'signed-out' | 'close' | 'failed';

const SAID: Readonly<Record<Step, string>> = {
  working: 'Signing in…',
  'signed-out': 'You are signed out.',
  close: 'You are signed in. This window can be closed.',
  failed: 'You could not be signed in.',
};

/** Where the issuer sends browsers back to. */
export function SignInPage({ signIn }: { signIn: SignIn | undefined }) {
  const [step, setStep] = useState<Step>('working');
  const [why, setWhy] = useState<string | undefined>(undefined);
  useEffect(() => {
    takeStep(signIn).then(setStep, (error: unknown) => {
      setWhy(reasonOf(error));
      setStep('failed');
    });
  }, [signIn]);
  const again = () => {
    if (signIn === undefined) return;
    setStep('working');
    // Whoever signed out, or was refused, may want to be somebody else.
    void goAndSignIn(signIn, { returnTo: '/', beside: false, prompt: 'login' });
  };
  return (
    <main class="start">
      <h1>Glimpse</h1>
      <p role={step === 'failed' ? 'alert' : 'status'}>
        {SAID[step]}
        {step === 'failed' && why !== undefined && ` ${why}`}
      </p>
      {(step === 'signed-out' || step === 'failed') && (
        <button type="button" class="main" onClick={again}>
          Sign in
        </button>
      )}
    </main>
  );
}

/** Where there is something that one can do. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && error.code === CLOCK_DIFFERS) {
    return 'The clock of this device is not that of the issuer: set it, and try again.';
  }
  return storageRefusal(error);
}

/** @returns what is left to be said */
async function takeStep(signIn: SignIn | undefined): Promise<Step> {
  const asked = new URLSearchParams(location.search);
  if (signIn === undefined) {
    location.replace('/');
    return 'working';
  }
  if (asked.has('signed-out')) return 'signed-out';
  if (asked.has('beside')) {
    await goAndSignIn(signIn, { returnTo: '/', beside: true });
    return 'working';
  }
  const pending = readPending(sessionStorage.getItem(PENDING));
  sessionStorage.removeItem(PENDING);
  const { endSignIn } = await import('./issuer.ts');
  const tokens = await endSignIn(signIn, pending, asked);
  if (!pending.beside) {
    keepTokens(tokens);
    location.replace(pending.returnTo);
    return 'working';
  }
  new BroadcastChannel(CHANNEL).postMessage(JSON.stringify(tokens));
  // A browser that has forgotten who opened the window leaves it to the person.
  close();
  return 'close';
}

function readPending(stored: string | null): Pending {
  const { state, verifier, nonce, returnTo, beside } = fields(JSON.parse(stored ?? '{}'));
  const path = text(returnTo);
  return {
    state: text(state),
    verifier: text(verifier),
    nonce: text(nonce),
    // Never to another site, whatever was put there.
    returnTo: /^\/(?![/\\])/.test(path) ? path : '/',
    beside: beside === true,
  };
}
