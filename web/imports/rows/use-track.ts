import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Span } from './plan-rows.ts';
import { moved, type Position, scrolledTo, settled, trackOf } from './track.ts';

/** What is kept ready above and below the screen, in screens. */
const AHEAD = 0.75;
/** The window moves in steps of so many rows, so that most scrolling renders nothing. */
const STEP = 4;
/** Screens that one scroll may be and still count as a turn of the wheel. */
const NEAR = 1.5;
const REST_MS = 150;
/** The page's head and the progress below it cover so much of the screen, in CSS pixels. */
const COVERED = 150;

export interface OnTrack {
  /** Of the element. */
  readonly height: number;
  /** Places that are on screen or near it. */
  readonly span: Span;
  /** Where a place's row is, from the element's top. */
  top(place: number): number;
  /** Scrolls no more than it takes to see the whole row. */
  reveal(place: number, how: 'smooth' | 'instant'): void;
}

interface Shown extends Span {
  readonly offset: number;
}

/** The part of a list of equal rows that is on screen, however long the list is. */
export function useTrack(
  list: { readonly current: HTMLElement | null },
  count: number,
  rowHeight: number,
): OnTrack {
  const track = trackOf(count, rowHeight);
  const latest = useRef(track);
  latest.current = track;
  const position = useRef<Position>({ scrolled: 0, offset: 0 });
  const [shown, setShown] = useState<Shown>({ from: 1, to: 0, offset: 0 });
  const look = useRef(() => {});

  look.current = () => {
    const element = list.current;
    if (element === null) return;
    const scrolled = -element.getBoundingClientRect().top;
    if (scrolled !== position.current.scrolled) {
      position.current = moved(track, position.current, scrolled, innerHeight * NEAR);
    }
    const { offset } = position.current;
    const row = (at: number) => Math.floor(at / rowHeight / STEP) * STEP;
    const top = scrolled + offset;
    const from = Math.max(1, row(top - AHEAD * innerHeight) + 1);
    const to = Math.min(count, row(top + (1 + AHEAD) * innerHeight) + STEP);
    setShown((before) =>
      before.from === from && before.to === to && before.offset === offset
        ? before
        : { from, to, offset },
    );
  };

  useLayoutEffect(() => look.current(), [count, rowHeight]);
  useLayoutEffect(() => {
    let frame = 0;
    let rest: ReturnType<typeof setTimeout> | undefined;
    const settle = () => {
      const next = settled(latest.current, position.current);
      if (next === undefined) return;
      const by = next.scrolled - position.current.scrolled;
      position.current = next;
      scrollBy({ top: by, behavior: 'instant' });
      look.current();
    };
    const soon = () => {
      clearTimeout(rest);
      rest = setTimeout(settle, REST_MS);
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        look.current();
      });
    };
    addEventListener('scroll', soon, { passive: true });
    addEventListener('resize', soon);
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(rest);
      removeEventListener('scroll', soon);
      removeEventListener('resize', soon);
    };
  }, []);

  return {
    height: track.height,
    span: shown,
    top: (place) => (place - 1) * rowHeight - shown.offset,
    reveal(place, how) {
      const element = list.current;
      if (element === null) return;
      const { top } = element.getBoundingClientRect();
      const { scrolled, offset } = position.current;
      const seen = scrolled + offset;
      const first = (place - 1) * rowHeight - COVERED;
      const last = place * rowHeight + 24 - innerHeight;
      const wanted = seen > first ? first : seen < last ? last : undefined;
      if (wanted === undefined) return;
      const there = Math.round(scrolledTo(track, wanted));
      if (track.length !== track.height) {
        position.current = { scrolled: there, offset: wanted - there };
      }
      // A long way is no movement to watch.
      const far = Math.abs(top + there) > innerHeight * NEAR;
      scrollBy({ top: top + there, behavior: far ? 'instant' : how });
      look.current();
    },
  };
}
