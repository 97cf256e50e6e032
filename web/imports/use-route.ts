import { useCallback, useEffect, useState } from 'preact/hooks';
import { hrefOf, parseRoute, type Route } from './route.ts';

export type Go = (to: Partial<Route>, how?: 'replace') => void;

/** What the address shows now, and the way to show something else. */
export function useRoute(): [route: Route, go: Go] {
  const [route, setRoute] = useState(() => parseRoute(location.search));
  useEffect(() => {
    const look = () => setRoute(parseRoute(location.search));
    addEventListener('popstate', look);
    return () => removeEventListener('popstate', look);
  }, []);
  const go = useCallback<Go>((to, how) => {
    if (how === 'replace') history.replaceState(history.state, '', hrefOf(to));
    else {
      history.pushState(undefined, '', hrefOf(to));
      scrollTo(0, 0);
    }
    setRoute(parseRoute(location.search));
  }, []);
  return [route, go];
}
