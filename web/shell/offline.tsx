import { useEffect, useState } from 'preact/hooks';

/** Says that there is no network. */
export function Offline() {
  // Believed when it changes only: a machine that reaches nothing but itself is always "offline".
  const [online, setOnline] = useState(true);
  useEffect(() => {
    const look = () => setOnline(navigator.onLine);
    addEventListener('online', look);
    addEventListener('offline', look);
    return () => {
      removeEventListener('online', look);
      removeEventListener('offline', look);
    };
  }, []);
  return (
    <p role="status" class={online ? 'for-readers' : 'offline'}>
      {online
        ? ''
        : 'You are offline. What is on this page stays; the rest comes when you are back.'}
    </p>
  );
}
