import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { View } from '../../glimpse-image/view.ts';
import type { Config } from '../../shell/config.ts';
import { Icon } from '../../shell/icon.tsx';
import { useStore } from '../../shell/store.ts';
import type { Feed } from '../feed.ts';
import { titleOf } from '../route.ts';
import { fitInside, useScreen } from './fit.ts';
import { useSwipe } from './use-swipe.ts';

/** Pages that are looked through for a picture that someone's link names. */
const MOST_PAGES = 12;

export interface LargeViewProps {
  config: Config;
  feed: Feed;
  image: string;
  onMove: (image: string) => void;
  onClose: () => void;
}

/** One picture as large as the screen, and the way to its neighbours. */
export function LargeView({ config, feed, image, onMove, onClose }: LargeViewProps) {
  const { images, more, loading, error } = useStore(feed);
  const dialog = useRef<HTMLDialogElement>(null);
  const index = feed.indexOf(image);
  const before = index > 0 ? images[index - 1] : undefined;
  const after = index >= 0 ? images[index + 1] : undefined;
  const small = images[index];

  useLayoutEffect(() => {
    dialog.current?.showModal();
  }, []);

  // Before its end is reached, the list goes on; and a link may name a picture further down.
  const pages = useRef(0);
  useEffect(() => {
    const wanted = index < 0 ? pages.current < MOST_PAGES : index >= images.length - 3;
    if (!wanted || !more || loading || error !== undefined) return;
    if (index < 0) pages.current += 1;
    void feed.loadMore();
  });

  const step = (view: View | undefined) => view !== undefined && onMove(view.image);
  const swipe = useSwipe({ left: () => step(after), right: () => step(before) });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowLeft') step(before);
    else if (event.key === 'ArrowRight') step(after);
    else return;
    event.preventDefault();
  };
  const title = titleOf(image);
  const place = index < 0 ? '' : `${index + 1} of ${images.length}${more ? '+' : ''}`;

  return (
    <dialog
      ref={dialog}
      class="large"
      aria-label={title}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      {...swipe}
    >
      <Picture key={image} config={config} image={image} small={small} title={title} />
      <header>
        <h2>{title}</h2>
        <p aria-live="polite">{place}</p>
        <button type="button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <button
        type="button"
        class="step back"
        aria-label="Previous picture"
        disabled={before === undefined}
        onClick={() => step(before)}
      >
        <Icon name="back" />
      </button>
      <button
        type="button"
        class="step on"
        aria-label="Next picture"
        disabled={after === undefined}
        onClick={() => step(after)}
      >
        <Icon name="on" />
      </button>
      {[before, after].map(
        (view) => view !== undefined && <Ahead key={view.image} config={config} view={view} />,
      )}
    </dialog>
  );
}

interface PictureProps {
  config: Config;
  image: string;
  /** What the grid knows of it. */
  small: View | undefined;
  title: string;
}

/** The grid's thumbnail, enlarged, until the large one is there. */
function Picture({ config, image, small, title }: PictureProps) {
  // Where its proportions are not known yet it has the whole screen, and keeps that.
  const [sized] = useState(small);
  const screen = useScreen();
  const { width, height } = fitInside(sized, screen);
  return (
    <div class="picture" style={{ width: `${width}px`, height: `${height}px` }}>
      {small?.variants[config.variants.grid]?.state === 'ready' && (
        <glimpse-image
          api={config.api}
          image={image}
          variant={config.variants.grid}
          alt=""
          view={small}
          width={width}
          height={height}
          loading="eager"
        />
      )}
      <glimpse-image
        api={config.api}
        image={image}
        variant={config.variants.large}
        alt={title}
        {...(small === undefined ? {} : { view: small })}
        width={width}
        height={height}
        loading="eager"
      />
    </div>
  );
}

/** A neighbour's large picture, so that it is there when it is asked for. */
function Ahead({ config, view }: { config: Config; view: View }) {
  return (
    <glimpse-image
      hidden
      api={config.api}
      image={view.image}
      variant={config.variants.large}
      alt=""
      view={view}
      loading="eager"
    />
  );
}
