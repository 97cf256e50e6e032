import { useEffect, useRef, useState } from 'preact/hooks';
import type { OnTrack } from './use-track.ts';

const SCROLLING_KEYS: ReadonlySet<string> = new Set([
  'ArrowUp',
  'ArrowDown',
  'PageUp',
  'PageDown',
  'Home',
  'End',
  ' ',
]);

/** Keeps the newest rows in view, until the person scrolls. */
export function useFollow(
  frontier: number | undefined,
  suspended: boolean,
  reveal: OnTrack['reveal'],
): { following: boolean; follow: () => void } {
  const [following, setFollowing] = useState(true);
  const latest = useRef(reveal);
  latest.current = reveal;

  useEffect(() => {
    if (!following || suspended || frontier === undefined || frontier === 0) return;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    latest.current(frontier, still ? 'instant' : 'smooth');
  }, [following, suspended, frontier]);

  useEffect(() => {
    if (!following) return;
    const stop = () => setFollowing(false);
    const onKey = ({ key, target }: KeyboardEvent) => {
      const typing = target instanceof HTMLElement && target.matches('input, textarea, select');
      if (SCROLLING_KEYS.has(key) && !typing) stop();
    };
    // The bar of the window tells of no pointer: what goes up was dragged, as following goes down.
    let last = scrollY;
    let height = document.documentElement.scrollHeight;
    const onScroll = () => {
      const now = document.documentElement.scrollHeight;
      if (scrollY < last - 4 && now === height) stop();
      last = scrollY;
      height = now;
    };
    addEventListener('wheel', stop, { passive: true });
    addEventListener('touchmove', stop, { passive: true });
    addEventListener('keydown', onKey);
    addEventListener('scroll', onScroll, { passive: true });
    return () => {
      removeEventListener('wheel', stop);
      removeEventListener('touchmove', stop);
      removeEventListener('keydown', onKey);
      removeEventListener('scroll', onScroll);
    };
  }, [following]);

  return { following, follow: () => setFollowing(true) };
}
