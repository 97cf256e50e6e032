import { useLayoutEffect, useRef } from 'preact/hooks';

/** Pages that are loaded again on the way to where one was. */
const MOST_PAGES = 12;

const REST_MS = 200;

/** Where the reader is, for Back and for a reload: kept with the entry of the browser's history. */
export function rememberScroll(): void {
  history.replaceState({ ...history.state, top: scrollY }, '');
}

/** Keeps it whenever scrolling comes to rest: what is said while a page is left may be lost. */
export function rememberScrolling(): void {
  let rest: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    clearTimeout(rest);
    rest = setTimeout(rememberScroll, REST_MS);
  };
  addEventListener('scroll', soon, { passive: true });
}

/** Goes there as soon as the list has grown long enough. */
export function useRestoredScroll(
  height: number,
  { more, loading }: { readonly more: boolean; readonly loading: boolean },
  loadMore: () => void,
): void {
  const wanted = useRef(Number(history.state?.top ?? 0));
  const pages = useRef(0);
  useLayoutEffect(() => {
    if (wanted.current === 0 || height === 0) return;
    const reach = document.documentElement.scrollHeight - innerHeight;
    if (reach < wanted.current && more && pages.current < MOST_PAGES) {
      if (loading) return;
      pages.current += 1;
      loadMore();
      return;
    }
    scrollTo(0, wanted.current);
    wanted.current = 0;
  });
}
