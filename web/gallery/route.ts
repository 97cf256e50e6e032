/** What a page's address shows: the galleries, one of them, and one of its pictures large. */
export interface Route {
  /** Undefined shows all galleries; '' is that of the images in no folder. */
  readonly gallery: string | undefined;
  readonly image: string | undefined;
}

export function parseRoute(search: string): Route {
  const query = new URLSearchParams(search);
  const image = query.get('image') || undefined;
  return { gallery: query.get('gallery') ?? (image && galleryOf(image)), image };
}

/** As the API splits keys: the folder without its slash, but for those of slashes alone. */
function galleryOf(image: string): string {
  const folder = image.slice(0, image.lastIndexOf('/') + 1);
  return /^\/*$/.test(folder) ? folder : folder.slice(0, -1);
}

/** Galleries and images travel in the query string, so that any key can. */
export function hrefOf({ gallery, image }: Partial<Route>): string {
  if (gallery === undefined) return '/';
  return `/?${new URLSearchParams({ gallery, ...(image === undefined ? {} : { image }) })}`;
}

/**
 * The gallery that somebody means by a name: slashes around it are none of it, as in `/summer/`, unless
 * it is nothing else, as the folder of `/a.jpg` is.
 */
export function galleryNamed(typed: string): string {
  const name = typed.trim();
  return /^\/+$/.test(name) ? name : name.replace(/^\/+|\/+$/g, '');
}

/** What people call a picture: its file's name without folders and ending. */
export function titleOf(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1);
  return (
    name
      .replace(/(?<=.)\.[a-z0-9]{1,5}$/i, '')
      .replace(/[-_]+/g, ' ')
      .trim() || name
  );
}

export function galleryTitle(gallery: string): string {
  if (gallery === '') return 'Without a folder';
  return gallery.trim() === '' ? `“${gallery}”` : gallery;
}
