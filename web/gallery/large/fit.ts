import { useEffect, useState } from 'preact/hooks';

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
 * The largest size of a picture's proportions that the screen has room for; its own size at most, and
 * the whole screen until that is known.
 */
export function fitInside(
  known: { readonly width: number | undefined; readonly height: number | undefined } | undefined,
  screen: Size,
): Size {
  if (known?.width === undefined || known.height === undefined) return screen;
  const scale = Math.min(1, screen.width / known.width, screen.height / known.height);
  return {
    width: Math.max(1, Math.round(known.width * scale)),
    height: Math.max(1, Math.round(known.height * scale)),
  };
}
