import { useEffect, useState } from 'preact/hooks';
import type { View } from '../../glimpse-image/view.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of the window, kept up to date. CSS pixels. */
export function useScreen(): Size {
  const [screen, setScreen] = useState({ width: innerWidth, height: innerHeight });
  useEffect(() => {
    const look = () => setScreen({ width: innerWidth, height: innerHeight });
    addEventListener('resize', look);
    return () => removeEventListener('resize', look);
  }, []);
  return screen;
}

/**
 * The largest size of a picture's proportions that the screen has room for; its own size at most unless
 * it is a drawing, and the whole screen until that is known.
 */
export function fitInside(
  known: Pick<View, 'width' | 'height' | 'variants'> | undefined,
  screen: Size,
): Size {
  if (known?.width === undefined || known.height === undefined) return screen;
  const { width: own } = known;
  // Only a drawing has thumbnails that are larger than itself: it is sharp at any size.
  const isDrawing = Object.values(known.variants).some(({ width = 0 }) => width > own);
  const most = isDrawing ? Number.POSITIVE_INFINITY : 1;
  const scale = Math.min(most, screen.width / own, screen.height / known.height);
  return {
    width: Math.max(1, Math.round(known.width * scale)),
    height: Math.max(1, Math.round(known.height * scale)),
  };
}
