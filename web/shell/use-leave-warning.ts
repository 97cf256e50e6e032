import { useEffect } from 'preact/hooks';

/** The browser asks before the page is left while something runs that would be lost. */
export function useLeaveWarning(running: boolean): void {
  useEffect(() => {
    if (!running) return;
    const warn = (event: Event) => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [running]);
}
