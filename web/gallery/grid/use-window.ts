import { useLayoutEffect, useState } from 'preact/hooks';

export interface Span {
  /** CSS pixels from the element's top. */
  readonly top: number;
  readonly bottom: number;
}

/** What is kept ready above and below the screen, in screens. */
const AHEAD = 0.75;

/** The window moves in steps of this share of a screen, so that most scrolling renders nothing. */
const STEP = 0.25;

/** The part of a tall element that is on screen or near it. */
export function useWindow(ref: { readonly current: HTMLElement | null }): Span {
  const [span, setSpan] = useState<Span>({ top: 0, bottom: 2000 });
  useLayoutEffect(() => {
    let frame = 0;
    const look = () => {
      frame = 0;
      const element = ref.current;
      if (element === null) return;
      const screen = innerHeight;
      const step = screen * STEP;
      const top = -element.getBoundingClientRect().top;
      const from = Math.floor(top / step) * step - screen * AHEAD;
      const bottom = from + screen * (1 + 2 * AHEAD) + step;
      setSpan((before) =>
        before.top === from && before.bottom === bottom ? before : { top: from, bottom },
      );
    };
    const soon = () => {
      frame ||= requestAnimationFrame(look);
    };
    look();
    addEventListener('scroll', soon, { passive: true });
    addEventListener('resize', soon);
    return () => {
      cancelAnimationFrame(frame);
      removeEventListener('scroll', soon);
      removeEventListener('resize', soon);
    };
  }, [ref]);
  return span;
}
