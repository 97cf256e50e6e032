import { type Authorize, access, pollerOf } from './poll-page.ts';
import type { Asker, Poller } from './poller.ts';
import { styles } from './styles.ts';
import { drawThumbhash } from './thumbhash-canvas.ts';
import { type Failure, readViews, type State, type View } from './view.ts';

export type { Authorize } from './poll-page.ts';
export type { Failure, State, VariantView, View } from './view.ts';

/** Tells of each step from placeholder to picture; bubbles, also out of shadow trees. */
export type GlimpseChangeEvent = CustomEvent<{
  readonly state: State;
  /** What the API told of the image; nothing where it would not be asked. */
  readonly view: View | undefined;
  /** Why it cannot be shown, where `state` is `failed`. */
  readonly failure: Failure | undefined;
}>;

/** Until the proportions are known, and for good if they come only after the place was taken. */
const USUAL_RATIO = 3 / 2;

/** A URL that ends sooner than this is not used any more, in milliseconds. */
const URL_MARGIN = 5000;

/** News that are younger than this are used as they are, whatever the viewer's clock says. */
const FRESH_MS = 10_000;

/** A picture on screen gets its next URL this long before the last one ends. */
const REFRESH_MARGIN = 120_000;

/** Tries to load what the API says is there. The waits between them double from a second. */
const MOST_LOADS = 5;

/** A picture that took no longer than this was in the cache, and is shown without a fade. */
const CACHED_MS = 60;

const FADE_MS = 280;

const REASONS: Readonly<Record<string, string>> = {
  unsupported: 'Not a picture that can be shown',
  corrupt: 'This picture is damaged',
  'too-large': 'This picture is too large',
  missing: 'This picture is not there',
  transient: 'This picture could not be made yet',
};

/**
 * A thumbnail that holds its place, shows what is known and becomes the picture when it is made.
 *
 * Attributes: `image` (the object's key; with `gallery`, its name there), `variant`, `alt`, `api` (or a
 * `<meta name="glimpse-api">`), `width` and `height` (the proportions of its place), `loading="eager"`.
 * It reflects `state`: `pending`, `ready` once the picture is shown, or `failed`.
 */
export class GlimpseImage extends HTMLElement {
  static readonly observedAttributes = [
    'api',
    'gallery',
    'image',
    'variant',
    'alt',
    'width',
    'height',
  ];

  /** Pictures are asked for a screen before they are seen. */
  static readonly #nearby = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (target instanceof GlimpseImage) target.#approach(isIntersecting);
      }
    },
    { rootMargin: '100%' },
  );

  readonly #asker: Asker;
  readonly #place = document.createElement('div');
  readonly #frame = document.createElement('div');
  #view: View | undefined;
  /** The page's own, which says what image this is where no attribute does. */
  #handed: View | undefined;
  #poller: Poller | undefined;
  #near = false;
  /** Not yet while attributes are read that were there before. */
  #placed = false;
  /** The proportions of the place: from attributes, or the first that were known. */
  #ratio: number | undefined;
  #loading: HTMLImageElement | undefined;
  #shown: HTMLImageElement | undefined;
  /** The end of a URL that a later answer could not put off: that of its signer's session. */
  #lastEnd: number | undefined;
  /** From when on an answer should have brought a URL that ends later. */
  #refreshFrom = Number.POSITIVE_INFINITY;
  /** How often in a row a picture that should be there could not be loaded. */
  #losses = 0;
  #thumbhash: string | undefined;

  constructor() {
    super();
    this.#asker = {
      key: () => this.key,
      variant: () => this.variant,
      tell: (view) => this.#tell(view),
      refuse: (reason) => this.#fail({ class: 'refused', reason, retryAt: undefined }),
    };
    this.#place.id = 'place';
    this.#frame.id = 'frame';
    this.#frame.setAttribute('part', 'frame');
    const shadow = this.attachShadow({ mode: 'open' });
    shadow.adoptedStyleSheets = [styles];
    shadow.append(this.#place, this.#frame);
  }

  /** The key that is asked for. */
  get key(): string {
    const image = this.getAttribute('image') ?? this.#handed?.image ?? '';
    const gallery = this.getAttribute('gallery');
    if (gallery === null || image.includes('/')) return image;
    return /^\/*$/.test(gallery) ? gallery + image : `${gallery}/${image}`;
  }

  get variant(): string {
    return this.getAttribute('variant') ?? 'card';
  }

  get state(): State {
    const state = this.getAttribute('state');
    return state === 'ready' || state === 'failed' ? state : 'pending';
  }

  /** What is known of the image, also as a page may have it from the API's answer. */
  get view(): View | undefined {
    return this.#view;
  }

  set view(view: View | undefined) {
    if (view === this.#view) return;
    if (view?.image !== this.#view?.image) this.#forgetPicture();
    this.#handed = view;
    this.#view = view;
    this.#start();
  }

  /**
   * Where the API asks who asks: what tells a token, called before each request, and with the token that
   * the API has refused. Nothing for an API that lets in everyone.
   */
  static set authorize(authorize: Authorize | undefined) {
    access.authorize = authorize;
  }

  /** Views for `view`, from an answer of `GET /images` or `POST /thumbnails`. */
  static viewsOf(answer: unknown): View[] {
    return readViews(answer, Date.now());
  }

  connectedCallback(): void {
    this.#placed = true;
    this.#near = this.getAttribute('loading') === 'eager';
    if (!this.#near) GlimpseImage.#nearby.observe(this);
    this.#start();
  }

  disconnectedCallback(): void {
    this.#placed = false;
    GlimpseImage.#nearby.unobserve(this);
    this.#near = false;
    this.#stop();
  }

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    if (before === after) return;
    if (name === 'alt') this.#name();
    else if (name === 'width' || name === 'height') this.#hold();
    else this.#turn();
  }

  /** To another image, unless what is known is of that one. */
  #turn(): void {
    if (this.#view?.image !== this.key) this.#view = undefined;
    this.#forgetPicture();
    this.#start();
  }

  #approach(near: boolean): void {
    if (near === this.#near) return;
    this.#near = near;
    if (near) this.#start();
    // Its next URL can wait until it is looked at again.
    else if (this.state === 'ready') this.#poller?.forget(this.#asker);
  }

  /** Answers whether the thumbnail is still being made. */
  #tell(view: View): boolean {
    const end = (told: View | undefined) => told?.variants[this.variant]?.expiresAt;
    if (Date.now() >= this.#refreshFrom && end(view) === end(this.#view)) this.#lastEnd = end(view);
    this.#refreshFrom = Number.POSITIVE_INFINITY;
    this.#view = this.#view?.image === view.image ? withKnown(view, this.#view) : view;
    this.#hold();
    return this.#show();
  }

  #start(): void {
    if (!this.#placed) return;
    this.#hold();
    this.#name();
    const api = this.getAttribute('api') ?? metaApi();
    if (this.key === '') return;
    if (api === undefined) {
      warnOfNoApi();
      return;
    }
    const poller = pollerOf(api);
    if (this.#poller !== poller) this.#stop();
    this.#poller = poller;
    const view = this.#view;
    if (view === undefined) {
      if (!this.hasAttribute('state')) this.#become('pending');
      this.#placeholder();
      if (this.#near) poller.want(this.#asker, Date.now());
    } else if (this.#show() && this.#near) {
      poller.await(this.#asker, view);
    }
  }

  #stop(): void {
    this.#poller?.forget(this.#asker);
    this.#poller = undefined;
    if (this.#loading !== undefined) {
      // What nobody sees any more need not be loaded to its end.
      this.#loading.removeAttribute('src');
      this.#loading = undefined;
    }
  }

  #forgetPicture(): void {
    this.#stop();
    this.#losses = 0;
    this.#shown = undefined;
    this.#thumbhash = undefined;
    this.#ratio = undefined;
    this.#frame.replaceChildren();
    this.removeAttribute('state');
  }

  /** Answers whether the thumbnail is still being made. */
  #show(): boolean {
    const view = this.#view;
    if (view === undefined) return true;
    const {
      state,
      url,
      expiresAt = Number.POSITIVE_INFINITY,
    } = view.variants[this.variant] ?? {
      state: 'pending',
      url: undefined,
    };
    if (state === 'failed') {
      this.#fail(view.failure ?? { class: '', reason: '', retryAt: undefined });
      return false;
    }
    if (this.#shown === undefined) this.#placeholder();
    if (state === 'pending' || url === undefined) {
      // A picture that is shown stays until its successor is made.
      if (this.#shown === undefined) this.#become('pending');
      return true;
    }
    if (isStale(view, expiresAt)) {
      if (this.#near) this.#poller?.want(this.#asker, Date.now());
      return false;
    }
    if (this.#shown?.getAttribute('src') !== url || this.#losses > 0) void this.#load(url);
    this.#refreshBefore(expiresAt);
    return false;
  }

  /** While it is on screen; what is not asks when it comes back. */
  #refreshBefore(expiresAt: number): void {
    const life = expiresAt - Date.now();
    if (!Number.isFinite(life) || life <= 0 || !this.#near || expiresAt === this.#lastEnd) return;
    const margin = Math.min(REFRESH_MARGIN, life / 2);
    // Spread, as all URLs of a page end at the same moment.
    const due = expiresAt - margin * (1 - Math.random() / 4);
    this.#refreshFrom = due - margin / 4;
    this.#poller?.want(this.#asker, due, margin / 4);
  }

  async #load(url: string): Promise<void> {
    if (this.#loading?.getAttribute('src') === url) return;
    const img = new Image();
    img.alt = '';
    img.decoding = 'async';
    img.setAttribute('part', 'image');
    this.#loading = img;
    const started = performance.now();
    img.src = url;
    try {
      await img.decode();
    } catch {
      // A browser short of memory or time may refuse to decode ahead what it has, and can show.
      if (img.naturalWidth === 0) {
        if (this.#loading === img) this.#lose();
        return;
      }
    }
    if (this.#loading !== img) return;
    this.#loading = undefined;
    this.#losses = 0;
    this.#reveal(img, performance.now() - started);
  }

  #reveal(img: HTMLImageElement, tookMs: number): void {
    const { width, height } = this.#view ?? {};
    const real = width !== undefined && height !== undefined ? width / height : undefined;
    const apart = real !== undefined && Math.abs(real / (this.#ratio ?? real) - 1) > 0.02;
    this.#frame.classList.toggle('apart', apart);
    this.#frame.append(img);
    this.#shown = img;
    this.#become('ready');
    const cleanUp = () => {
      if (this.#shown !== img) return;
      // The blur stays where the picture leaves part of its place free, but never behind a
      // picture that one can see through.
      const blur = this.#frame.querySelector('canvas.opaque');
      this.#frame.replaceChildren(...(apart && blur !== null ? [blur] : []), img);
      this.#frame.classList.add('ready');
      this.#frame.style.backgroundColor = '';
    };
    if (tookMs < CACHED_MS || matchMedia('(prefers-reduced-motion: reduce)').matches) cleanUp();
    else {
      const fade = img.animate([{ opacity: 0 }, { opacity: 1 }], { duration: FADE_MS });
      fade.finished.then(cleanUp, cleanUp);
    }
  }

  /** A URL that ended, or an object that is gone: the API knows what there is now. */
  #lose(): void {
    this.#loading = undefined;
    this.#losses += 1;
    if (this.#losses >= MOST_LOADS) {
      if (this.#shown !== undefined) return;
      this.#fail({ class: '', reason: 'It could not be loaded', retryAt: undefined });
      return;
    }
    const wait = this.#losses === 1 ? 0 : 500 * 2 ** this.#losses;
    this.#poller?.want(this.#asker, Date.now() + wait, wait / 2);
  }

  #fail(failure: Failure): void {
    this.#poller?.forget(this.#asker);
    const reason = document.createElement('div');
    reason.setAttribute('part', 'reason');
    const title = document.createElement('b');
    title.textContent = REASONS[failure.class] ?? 'This picture cannot be shown';
    const detail = document.createElement('span');
    detail.textContent = failure.reason;
    reason.append(title, detail);
    this.#shown = undefined;
    this.#thumbhash = undefined;
    this.#frame.classList.remove('ready');
    this.#frame.replaceChildren(reason);
    this.#frame.title = `${title.textContent}: ${failure.reason}`;
    this.#become('failed', failure);
    // Only what may mend itself is asked for again, and not before the API would try.
    if (failure.class === 'transient' && failure.retryAt !== undefined && this.#near) {
      this.#poller?.want(this.#asker, failure.retryAt + 1000 * Math.random(), 1000);
    }
  }

  #placeholder(): void {
    const { thumbhash, color } = this.#view ?? {};
    if (color !== undefined) this.#frame.style.backgroundColor = color;
    const blank = this.#frame.firstChild === null || this.state === 'failed';
    if (!blank && thumbhash === this.#thumbhash) return;
    this.#thumbhash = thumbhash;
    const canvas = thumbhash === undefined ? undefined : drawThumbhash(thumbhash);
    this.#frame.classList.remove('ready');
    this.#frame.replaceChildren(...(canvas === undefined ? [] : [canvas]));
  }

  /** Takes the place: once, unless the page itself gives other proportions. */
  #hold(): void {
    const width = Number(this.getAttribute('width'));
    const height = Number(this.getAttribute('height'));
    if (width > 0 && height > 0) this.#ratio = width / height;
    else if (this.#ratio === undefined && this.#view !== undefined) {
      const { width: real = USUAL_RATIO, height: high = 1 } = this.#view;
      this.#ratio = real / high;
    }
    this.#place.style.aspectRatio = String(this.#ratio ?? USUAL_RATIO);
  }

  /** What a screen reader says: the picture's name, and what is wrong with it. */
  #name(): void {
    const key = this.key.replace(/\/+$/, '');
    const alt = this.getAttribute('alt') ?? key.slice(key.lastIndexOf('/') + 1);
    if (alt === '') {
      this.#frame.removeAttribute('role');
      this.#frame.removeAttribute('aria-label');
      this.#frame.setAttribute('aria-hidden', 'true');
      return;
    }
    const reason = this.state === 'failed' ? `: ${this.#frame.title}` : '';
    this.#frame.removeAttribute('aria-hidden');
    this.#frame.setAttribute('role', 'img');
    this.#frame.setAttribute('aria-label', alt + reason);
  }

  #become(state: State, failure?: Failure): void {
    if (state !== 'failed') this.#frame.removeAttribute('title');
    this.setAttribute('state', state);
    if (state === 'pending') this.ariaBusy = 'true';
    else this.ariaBusy = null;
    this.#name();
    this.dispatchEvent(
      new CustomEvent('glimpse-change', {
        bubbles: true,
        composed: true,
        detail: { state, view: this.#view, failure },
      }) satisfies GlimpseChangeEvent,
    );
  }
}

/** News that do not say how the picture looks leave standing what was known, as from an upload. */
function withKnown(view: View, known: View): View {
  const { width = known.width, height = known.height, thumbhash = known.thumbhash } = view;
  return { ...view, width, height, thumbhash, color: view.color ?? known.color };
}

function isStale({ at }: View, expiresAt: number): boolean {
  const now = Date.now();
  return expiresAt - now < URL_MARGIN && now - at > FRESH_MS;
}

let warned = false;

function warnOfNoApi(): void {
  if (warned) return;
  warned = true;
  console.warn(
    '<glimpse-image> has no API: give it api="…", or the page a <meta name="glimpse-api">.',
  );
}

function metaApi(): string | undefined {
  const meta = document.querySelector<HTMLMetaElement>('meta[name="glimpse-api"]');
  return meta?.content || undefined;
}

customElements.define('glimpse-image', GlimpseImage);

declare global {
  interface HTMLElementTagNameMap {
    'glimpse-image': GlimpseImage;
  }
  interface HTMLElementEventMap {
    'glimpse-change': GlimpseChangeEvent;
  }
}
