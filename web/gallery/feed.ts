import type { View } from '../glimpse-image/view.ts';
import { ApiError } from '../shell/api-error.ts';
import type { Page } from '../shell/page.ts';
import { createStore, type Store } from '../shell/store.ts';

/** The proportions of a picture of which nothing is known yet; most cameras' own. */
const USUAL_RATIO = 3 / 2;

/** A part of a gallery. */
export interface ImagesPage extends Page<View> {
  /** Whoever asked may not add to it. */
  readonly readOnly: boolean;
}

export interface FeedState {
  /** Kept and changed in place: a gallery may have a hundred thousand. */
  readonly images: readonly View[];
  readonly ratios: readonly number[];
  readonly loading: boolean;
  /** Whether there are more than those here. */
  readonly more: boolean;
  readonly error: ApiError | undefined;
  /** Whoever looks may not add any; undefined as long as nobody knows. */
  readonly readOnly: boolean | undefined;
}

/** The pictures of a gallery as far as they were looked at, page by page. */
export interface Feed extends Store<FeedState> {
  /** The next page; at once nothing if one is on its way or there is none. */
  loadMore(): Promise<void>;
  indexOf(image: string): number;
  /** News of a picture that is here. */
  update(view: View): void;
  /** Pictures that were just uploaded come first, so that one sees them. */
  add(views: readonly View[]): void;
}

export function createFeed(page: (cursor?: string) => Promise<ImagesPage>): Feed {
  const images: View[] = [];
  const ratios: number[] = [];
  const places = new Map<string, number>();
  let cursor: string | undefined;
  const store = createStore<FeedState>({
    images,
    ratios,
    loading: false,
    more: true,
    error: undefined,
    readOnly: undefined,
  });

  const loadMore = async (): Promise<void> => {
    if (store.state.loading || !store.state.more) return;
    store.set({ loading: true, error: undefined });
    try {
      const { items, cursor: next, readOnly } = await page(cursor);
      cursor = next;
      for (const view of items) {
        // One that was uploaded meanwhile is here already.
        if (places.has(view.image)) continue;
        places.set(view.image, images.length);
        images.push(view);
        ratios.push(ratioOf(view));
      }
      store.set({ loading: false, more: cursor !== undefined, readOnly });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      store.set({ loading: false, error });
    }
  };

  return {
    ...store,
    get state() {
      return store.state;
    },
    loadMore,
    indexOf: (image) => places.get(image) ?? -1,
    update(view) {
      const index = places.get(view.image);
      if (index === undefined || images[index] === view) return;
      images[index] = view;
      ratios[index] = ratioOf(view);
      store.set({});
    },
    add(views) {
      const added = views.filter(({ image }) => !places.has(image));
      if (added.length === 0) return;
      images.unshift(...added);
      ratios.unshift(...added.map(ratioOf));
      for (const [index, { image }] of images.entries()) places.set(image, index);
      store.set({});
    },
  };
}

function ratioOf({ width, height }: View): number {
  return width === undefined || height === undefined ? USUAL_RATIO : width / height;
}
