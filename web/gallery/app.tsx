import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import type { View } from '../glimpse-image/view.ts';
import type { Config } from '../shell/config.ts';
import { DropTarget } from '../shell/drop-target.tsx';
import type { Dropped } from '../shell/dropped-files.ts';
import { followed } from '../shell/followed.ts';
import { Offline } from '../shell/offline.tsx';
import { useStore } from '../shell/store.ts';
import { Top } from '../shell/top.tsx';
import { type Api, createApi } from './api.ts';
import { createFeed, type Feed } from './feed.ts';
import { Galleries } from './galleries/galleries.tsx';
import { createGalleryList, type GalleryList } from './galleries/gallery-list.ts';
import { NewGallery } from './galleries/new-gallery.tsx';
import { GalleryPage } from './gallery-page.tsx';
import { galleryTitle, hrefOf, titleOf } from './route.ts';
import { AddPictures, type AddPicturesProps } from './uploads/add-pictures.tsx';
import { UploadsPanel } from './uploads/panel.tsx';
import type { UploadItem, Uploads } from './uploads/upload-queue.ts';
import { createUploads } from './uploads/uploads.ts';
import { useRoute } from './use-route.ts';

export function App({ config }: { config: Config }) {
  const api = useMemo(() => createApi(config.api, config.session), [config]);
  const [{ gallery, image }, go] = useRoute();
  const feeds = useFeeds(api, config);
  const feed = gallery === undefined ? undefined : feeds.of(gallery);
  const list = useMemo(() => createGalleryList(api), [api, gallery === undefined]);
  const known = useRef(false);
  const uploads = useUploadsOf(api, config, feeds);
  const add = useCallback(
    (files: File[], leftOut = false) => {
      if (gallery !== undefined) uploads.add(gallery, files, leftOut);
    },
    [uploads, gallery],
  );

  const drop = useCallback(({ files, leftOut }: Dropped<File>) => add(files, leftOut), [add]);

  useEffect(() => {
    const shown = [
      ...(image === undefined ? [] : [titleOf(image)]),
      ...(gallery === undefined ? [] : [galleryTitle(gallery)]),
      'Glimpse',
    ];
    document.title = shown.join(' · ');
  }, [gallery, image]);

  useEffect(() => {
    if (history.state?.top === undefined) scrollTo(0, 0);
  }, [gallery]);

  return (
    <>
      <Top
        home={hrefOf({})}
        onHome={followed(() => go({}))}
        here="gallery"
        session={config.session}
        dashboards={config.dashboards !== undefined}
      >
        {gallery === undefined ? (
          <AnotherGallery list={list} known={known} onOpen={(name) => go({ gallery: name })} />
        ) : (
          feed !== undefined && <AddTo feed={feed} types={config.upload.types} onPick={add} />
        )}
      </Top>
      <Offline />
      {gallery === undefined || feed === undefined ? (
        <Galleries api={api} config={config} list={list} onOpen={(name) => go({ gallery: name })} />
      ) : (
        <GalleryPage
          key={gallery}
          config={config}
          gallery={gallery}
          image={image}
          feed={feed}
          go={go}
        />
      )}
      <UploadsPanel uploads={uploads} />
      {gallery === undefined || feed === undefined ? (
        <DropTarget takes={false} onDrop={drop}>
          Drop to add pictures
        </DropTarget>
      ) : (
        <DropOn feed={feed} gallery={gallery} onDrop={drop} />
      )}
    </>
  );
}

interface AnotherGalleryProps {
  list: GalleryList;
  /** Whether there have been galleries: then there are some, also while they are asked for once more. */
  known: { current: boolean };
  onOpen: (gallery: string) => void;
}

/**
 * Beside the galleries that there are, for the newcomer's page has one of its own. Its place is held until it is
 * known which page it is: what was typed before would be lost.
 */
function AnotherGallery({ list, known, onOpen }: AnotherGalleryProps) {
  const { galleries } = useStore(list);
  known.current ||= galleries.length > 0;
  return <NewGallery shown={known.current} onOpen={onOpen} />;
}

/** Not for those who may only look. As long as nobody knows, its place is held. */
function AddTo({ feed, ...props }: { feed: Feed } & Omit<AddPicturesProps, 'shown'>) {
  const { readOnly, error } = useStore(feed);
  if (readOnly === true) return null;
  return <AddPictures shown={readOnly === false || error !== undefined} {...props} />;
}

function DropOn({
  feed,
  gallery,
  onDrop,
}: {
  feed: Feed;
  gallery: string;
  onDrop: (dropped: Dropped<File>) => void;
}) {
  return (
    <DropTarget takes={!useStore(feed).readOnly} onDrop={onDrop}>
      Drop to add to <strong>{gallery}</strong>
    </DropTarget>
  );
}

interface Feeds {
  of(gallery: string): Feed;
}

/** The last galleries that were looked at, so that Back finds them as they were. */
const MOST_FEEDS = 5;

function useFeeds(api: Api, { variants }: Config): Feeds {
  const kept = useRef(new Map<string, Feed>());
  return useMemo(
    () => ({
      of(gallery) {
        const feed =
          kept.current.get(gallery) ??
          createFeed((cursor) =>
            api.images(gallery, variants.grid, cursor === undefined ? {} : { cursor }),
          );
        kept.current.delete(gallery);
        kept.current.set(gallery, feed);
        for (const oldest of kept.current.keys()) {
          if (kept.current.size <= MOST_FEEDS) break;
          kept.current.delete(oldest);
        }
        return feed;
      },
    }),
    [api, variants.grid],
  );
}

/** What was uploaded comes into its gallery, with what the browser itself could tell of it. */
function useUploadsOf(api: Api, config: Config, feeds: Feeds): Uploads<File> {
  return useMemo(
    () =>
      createUploads({
        signUpload: api.signUpload,
        limits: config.upload,
        onUploaded: (item) => feeds.of(item.gallery).add([viewOf(item)]),
        onSketched: (item) => {
          const feed = feeds.of(item.gallery);
          const known = feed.state.images[feed.indexOf(item.image)];
          if (known !== undefined && known.width === undefined) feed.update(viewOf(item));
        },
      }),
    [api, config, feeds],
  );
}

function viewOf({ image, sketch }: UploadItem): View {
  return {
    image,
    width: sketch?.width,
    height: sketch?.height,
    variants: {},
    thumbhash: sketch?.thumbhash,
    color: undefined,
    retryAfterMs: undefined,
    failure: undefined,
    at: Date.now(),
  };
}
