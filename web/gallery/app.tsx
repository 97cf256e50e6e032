import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { View } from '../glimpse-image/view.ts';
import { type Api, createApi } from './api.ts';
import type { Config } from './config.ts';
import { createFeed, type Feed } from './feed.ts';
import { followed } from './followed.ts';
import { Galleries } from './galleries/galleries.tsx';
import { createGalleryList } from './galleries/gallery-list.ts';
import { NewGallery } from './galleries/new-gallery.tsx';
import { GalleryPage } from './gallery-page.tsx';
import { Icon } from './icon.tsx';
import { galleryTitle, hrefOf, titleOf } from './route.ts';
import { AddPictures } from './uploads/add-pictures.tsx';
import { DropTarget } from './uploads/drop-target.tsx';
import type { Dropped } from './uploads/dropped-files.ts';
import { UploadsPanel } from './uploads/panel.tsx';
import type { UploadItem, Uploads } from './uploads/upload-queue.ts';
import { createUploads } from './uploads/uploads.ts';
import { useRoute } from './use-route.ts';

export function App({ config }: { config: Config }) {
  const api = useMemo(() => createApi(config.api), [config]);
  const [{ gallery, image }, go] = useRoute();
  const feeds = useFeeds(api, config);
  const feed = gallery === undefined ? undefined : feeds.of(gallery);
  const list = useMemo(() => createGalleryList(api), [api, gallery === undefined]);
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
      <header class="top">
        <a class="brand" href={hrefOf({})} onClick={followed(() => go({}))}>
          <Icon name="gallery" />
          Glimpse
        </a>
        {gallery === undefined ? (
          <NewGallery onOpen={(name) => go({ gallery: name })} />
        ) : (
          <AddPictures types={config.upload.types} onPick={add} />
        )}
      </header>
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
      <DropTarget into={gallery} onDrop={drop} />
    </>
  );
}

function Offline() {
  // Believed when it changes only: a machine that reaches nothing but itself is always "offline".
  const [online, setOnline] = useState(true);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    addEventListener('online', look);
    addEventListener('offline', look);
    return () => {
      removeEventListener('online', look);
      removeEventListener('offline', look);
    };
  }, []);
  return (
    <p role="status" class={online ? 'for-readers' : 'offline'}>
      {online
        ? ''
        : 'You are offline. What is on this page stays; the rest comes when you are back.'}
    </p>
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
