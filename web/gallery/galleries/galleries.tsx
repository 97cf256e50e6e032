import { useEffect } from 'preact/hooks';
import type { Config } from '../../shell/config.ts';
import { followed } from '../../shell/followed.ts';
import { useStore } from '../../shell/store.ts';
import { Trouble } from '../../shell/trouble.tsx';
import type { Api } from '../api.ts';
import { rowsBetween } from '../grid/layout.ts';
import { useWidth } from '../grid/use-rows.ts';
import { useWindow } from '../grid/use-window.ts';
import { galleryTitle, hrefOf } from '../route.ts';
import { useRestoredScroll } from '../use-restored-scroll.ts';
import { Cover } from './cover.tsx';
import type { GalleryList } from './gallery-list.ts';
import { layoutCards } from './layout-cards.ts';
import { Start } from './start.tsx';

export interface GalleriesProps {
  api: Api;
  config: Config;
  list: GalleryList;
  onOpen: (gallery: string) => void;
}

/** All galleries, each with its first pictures. */
export function Galleries({ api, config, list, onOpen }: GalleriesProps) {
  const { galleries, loading, more, error } = useStore(list);
  const [element, width] = useWidth();
  const span = useWindow(element);
  const rows = layoutCards(galleries.length, width);
  const last = rows.at(-1);
  const height = last === undefined ? 0 : last.top + last.height;

  useEffect(() => {
    if (more && !loading && error === undefined && span.bottom + innerHeight > height) {
      void list.loadMore();
    }
  });

  useRestoredScroll(height, { more, loading }, () => void list.loadMore());

  if (!more && galleries.length === 0) return <Start api={api} config={config} onOpen={onOpen} />;
  return (
    <main>
      <h1>Galleries</h1>
      <ul
        ref={element}
        class="galleries"
        aria-label="Galleries"
        aria-busy={loading}
        style={{ height: `${height}px` }}
      >
        {rowsBetween(rows, span.top, span.bottom).flatMap(({ tiles }) =>
          tiles.map(({ index, left, top, width: across, height: high }) => {
            const gallery = galleries[index] ?? '';
            return (
              <li
                key={gallery}
                aria-setsize={more ? -1 : galleries.length}
                aria-posinset={index + 1}
                style={{
                  width: `${across}px`,
                  height: `${high}px`,
                  transform: `translate(${left}px, ${top}px)`,
                }}
              >
                <a href={hrefOf({ gallery })} onClick={followed(() => onOpen(gallery))}>
                  <Cover api={api} config={config} gallery={gallery} />
                  <span class="name">{galleryTitle(gallery)}</span>
                </a>
              </li>
            );
          }),
        )}
      </ul>
      {error !== undefined && <Trouble error={error} onRetry={() => void list.loadMore()} />}
    </main>
  );
}
