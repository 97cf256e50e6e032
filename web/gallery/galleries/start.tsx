import { useEffect, useState } from 'preact/hooks';
import type { Config } from '../../shell/config.ts';
import { Icon } from '../../shell/icon.tsx';
import { fields, number, text } from '../../shell/read-json.ts';
import type { Api } from '../api.ts';
import { NewGallery } from './new-gallery.tsx';

const SAMPLE_GALLERY = 'sample';

/** How often the making of the sample gallery is looked at, in milliseconds. */
const LOOK_EVERY = 400;

interface Making {
  state: 'idle' | 'running' | 'done' | 'failed';
  done: number;
  total: number;
  message?: string;
}

export interface StartProps {
  api: Api;
  config: Config;
  onOpen: (gallery: string) => void;
}

/** What a newcomer sees: nothing is here yet, and what can be done about it. */
export function Start({ api, config, onOpen }: StartProps) {
  const sample = useSample(api, config);
  if (sample === undefined) return <main class="start" aria-busy="true" />;
  return (
    <main class="start">
      <Icon name="gallery" />
      <h1>No galleries yet</h1>
      <p>
        A gallery is a folder of pictures. Its thumbnails are made when they are first looked at,
        and come straight from storage from then on.
      </p>
      {sample.offered && <Sample url={sample.url} onOpen={onOpen} />}
      <NewGallery onOpen={onOpen} />
    </main>
  );
}

type SampleOffer = { offered: true; url: string } | { offered: false };

/** Undefined until it is known whether whoever looks may add to that gallery. */
function useSample(api: Api, { sample: url, variants }: Config): SampleOffer | undefined {
  const [offer, setOffer] = useState<SampleOffer | undefined>(
    url === undefined ? { offered: false } : undefined,
  );
  useEffect(() => {
    if (url === undefined) return;
    void api
      .images(SAMPLE_GALLERY, variants.grid, { limit: 1 })
      .then(({ readOnly }) => setOffer(readOnly ? { offered: false } : { offered: true, url }))
      .catch(() => setOffer({ offered: false }));
  }, [api, url, variants.grid]);
  return offer;
}

/** Has the sample gallery made, on a developer's machine. */
function Sample({ url, onOpen }: { url: string; onOpen: (gallery: string) => void }) {
  const [making, setMaking] = useState<Making | undefined>(undefined);
  const running = making?.state === 'running';
  useEffect(() => {
    void ask(url).then((now) => now.state === 'running' && setMaking(now));
  }, [url]);
  useEffect(() => {
    if (making?.state === 'done') onOpen(SAMPLE_GALLERY);
    if (!running) return;
    const timer = setTimeout(() => void ask(url).then(setMaking), LOOK_EVERY);
    return () => clearTimeout(timer);
  }, [making]);

  return (
    <div class="sample">
      {running ? (
        <label>
          {making.total === 0
            ? 'Drawing pictures…'
            : `Drawing pictures: ${making.done} of ${making.total}`}
          <progress max={making.total || 1} value={making.done} />
        </label>
      ) : (
        <>
          <button
            type="button"
            class="main"
            onClick={() => void ask(url, { method: 'POST' }).then(setMaking)}
          >
            Make the sample gallery
          </button>
          <p>A hundred pictures, drawn on this machine in about half a minute.</p>
        </>
      )}
      {making?.state === 'failed' && (
        <p role="alert" class="error">
          {making.message ?? 'The sample gallery could not be made.'}
        </p>
      )}
    </div>
  );
}

async function ask(url: string, init?: RequestInit): Promise<Making> {
  try {
    const answer = await fetch(url, init);
    if (answer.ok) return readMaking(await answer.json());
  } catch {
    // Told below, as a bad answer is.
  }
  return { state: 'failed', done: 0, total: 0, message: 'This machine’s Glimpse does not answer.' };
}

function readMaking(told: unknown): Making {
  const { state, done, total, message } = fields(told);
  if (state !== 'idle' && state !== 'running' && state !== 'done' && state !== 'failed') {
    throw new TypeError('expected a state');
  }
  return {
    state,
    done: number(done),
    total: number(total),
    ...(message === undefined ? {} : { message: text(message) }),
  };
}
