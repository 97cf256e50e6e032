import { useEffect, useState } from 'preact/hooks';

/** Milliseconds: ages are told in minutes, a standstill in seconds. */
export const AGES = 20_000;
export const SECONDS = 1_000;

/** The time, kept up to date as far as what is told by it needs. */
export function useNow(everyMs: number = AGES): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
