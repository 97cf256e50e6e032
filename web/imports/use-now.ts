import { useEffect, useState } from 'preact/hooks';

/** Ages are told in minutes. */
const EVERY_MS = 20_000;

/** The time, kept up to date as far as ages need it. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
