import pLimit from 'p-limit';
import { useEffect, useState } from 'preact/hooks';
import type { View } from '../../glimpse-image/view.ts';
import type { Config } from '../../shell/config.ts';
import { Icon } from '../../shell/icon.tsx';
import type { Api } from '../api.ts';
import { type Cover as Loaded, loadCover } from './load-cover.ts';

/** Pictures of a gallery's cover, and those that are asked for, as some may not be showable. */
const PICTURES = 4;
const ASKED = 6;

/** Covers asked for at once; the rest wait their turn. */
const AT_ONCE = 4;

/** Covers that were seen, so that scrolling back asks for nothing. */
const MOST_KEPT = 500;
const kept = new Map<string, readonly View[]>();

function keep(gallery: string, views: readonly View[]): void {
  kept.set(gallery, views);
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
}

const inTurn = pLimit(AT_ONCE);

/** A gallery's first pictures; asked for when the card comes near the screen. */
export function Cover({ api, config, gallery }: { api: Api; config: Config; gallery: string }) {
  const { grid } = config.variants;
  const [loaded, setLoaded] = useState<Loaded>(kept.get(gallery) ?? []);
  useEffect(() => {
    if (kept.has(gallery)) return;
    let gone = false;
    void inTurn(async () => {
      if (gone) return;
      const found = await loadCover(
        (cursor) =>
          api.images(gallery, grid, { limit: ASKED, ...(cursor === undefined ? {} : { cursor }) }),
        grid,
      );
      if (typeof found !== 'string') keep(gallery, found);
      if (!gone) setLoaded(found);
      // A cover without pictures is still a link.
    }).catch(() => {});
    return () => {
      gone = true;
    };
  }, [api, gallery, grid]);
  if (typeof loaded === 'string') return <Bare why={loaded} />;
  const shown = loaded.slice(0, loaded.length < PICTURES ? 1 : PICTURES);
  return (
    <span class={shown.length > 1 ? 'cover four' : 'cover'}>
      {shown.map((view) => (
        <glimpse-image
          key={view.image}
          api={config.api}
          image={view.image}
          variant={grid}
          alt=""
          view={view}
          width={4}
          height={3}
          class="crop"
          loading="eager"
        />
      ))}
    </span>
  );
}

const WORDS = {
  failed: ['warning', 'No thumbnail could be made'],
  folders: ['folder', 'Many folders within'],
  empty: ['gallery', 'No pictures'],
} as const;

/** In place of pictures, so that a gallery without any does not look broken. */
function Bare({ why }: { why: keyof typeof WORDS }) {
  const [icon, words] = WORDS[why];
  return (
    <span class="cover bare">
      <Icon name={icon} />
      <span>{words}</span>
    </span>
  );
}
