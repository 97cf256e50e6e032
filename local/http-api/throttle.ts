/** A token bucket: `burst` at once, then `ratePerSecond`. */
export function createThrottle(
  { ratePerSecond, burst }: { ratePerSecond: number; burst: number },
  now: () => number = () => performance.now(),
): () => boolean {
  let tokens = burst;
  let at = now();
  return () => {
    const time = now();
    tokens = Math.min(burst, tokens + ((time - at) / 1000) * ratePerSecond);
    at = time;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
