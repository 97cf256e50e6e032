import type uPlot from 'uplot';

/**
 * The library of charts, where there is something to draw. It makes a number format of the browser's
 * language while it is loaded, and fails where that is none: `en-US@posix`, as a Chromium without a
 * locale calls it.
 */
export async function loadUPlot(): Promise<typeof uPlot> {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
  }
  const { default: UPlot } = await import('uplot');
  return UPlot;
}
