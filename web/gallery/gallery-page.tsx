import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Config } from '../shell/config.ts';
import { followed } from '../shell/followed.ts';
import { useStore } from '../shell/store.ts';
import { Trouble } from '../shell/trouble.tsx';
import type { Feed } from './feed.ts';
import { Grid } from './grid/grid.tsx';
import { LargeView } from './large/large-view.tsx';
import { galleryTitle, hrefOf, type Route } from './route.ts';

export interface GalleryPageProps {
  config: Config;
  gallery: string;
  image: string | undefined;
  feed: Feed;
  go: (to: Partial<Route>, how?: 'replace') => void;
}

/** One gallery, and over it the picture that is shown large. */
export function GalleryPage({ config, gallery, image, feed, go }: GalleryPageProps) {
  const { images, loading, more, error, readOnly } = useStore(feed);
  const [returnTo, setReturnTo] = useState<string | undefined>(undefined);
  // Where the large view was left, there the grid goes on; also after the browser's Back.
  const [shown, setShown] = useState(image);
  useEffect(() => {
    if (image === undefined && shown !== undefined) setReturnTo(shown);
    setShown(image);
  }, [image]);

  const open = useCallback(
    (chosen: string) => {
      setReturnTo(undefined);
      go({ gallery, image: chosen });
    },
    [gallery],
  );
  const close = () => {
    // Back, where the way here was through this page's grid; a link's reader has no such way.
    if (history.state?.fromHere === true) history.back();
    else go({ gallery }, 'replace');
  };

  const toGalleries = followed(() => go({}));

  return (
    <main>
      <nav aria-label="Where you are">
        <a href={hrefOf({})} onClick={toGalleries}>
          Galleries
        </a>
      </nav>
      <h1>{galleryTitle(gallery)}</h1>
      <p class="tally" role="status">
        {more || images.length === 0
          ? ''
          : `${images.length.toLocaleString()} ${images.length === 1 ? 'picture' : 'pictures'}`}
      </p>
      <Grid
        config={config}
        gallery={gallery}
        feed={feed}
        onOpen={open}
        returnTo={image === undefined ? returnTo : undefined}
      />
      {loading && images.length === 0 && <p class="looking">Looking into the folder…</p>}
      {!more && images.length === 0 && (
        <div class="empty">
          {/* A gallery that one may not see is answered as one that is empty. */}
          <h2>{readOnly ? 'No pictures that you may see' : 'No pictures yet'}</h2>
          <p>
            {readOnly
              ? 'You may not add any either.'
              : 'Drop some here, or add them with the button above.'}
          </p>
        </div>
      )}
      {error !== undefined && <Trouble error={error} onRetry={() => void feed.loadMore()} />}
      {loading && images.length > 0 && <p class="loading">More pictures are coming…</p>}
      {image !== undefined && (
        <LargeView
          config={config}
          feed={feed}
          image={image}
          onMove={(next) => go({ gallery, image: next }, 'replace')}
          onClose={close}
        />
      )}
    </main>
  );
}
