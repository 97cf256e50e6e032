import { useEffect, useState } from 'preact/hooks';
import { hrefOf, parseRoute, type Route } from './route.ts';
import { rememberScroll } from './use-restored-scroll.ts';

/** What the address shows now, and the way to show something else. */
export function useRoute(): [route: Route, go: (to: Partial<Route>, how?: 'replace') => void] {
  const [route, setRoute] = useState(() => parseRoute(location.search));
  useEffect(() => {
    const look = () => setRoute(parseRoute(location.search));
    addEventListener('popstate', look);
    return () => removeEventListener('popstate', look);
  }, []);
  const go = (to: Partial<Route>, how?: 'replace') => {
    const href = hrefOf(to);
    if (how === 'replace') history.replaceState(history.state, '', href);
    else {
      rememberScroll();
      history.pushState({ fromHere: true }, '', href);
    }
    setRoute(parseRoute(location.search));
  };
  return [route, go];
}
