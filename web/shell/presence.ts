/** Whether somebody sees this page, and when that or the network changes. */
export interface Presence {
  hidden(): boolean;
  /** Answers how to stop listening. */
  onChange(listener: () => void): () => void;
}

export const presence: Presence = {
  hidden: () => document.visibilityState === 'hidden',
  onChange(listener) {
    document.addEventListener('visibilitychange', listener);
    addEventListener('online', listener);
    // A page that comes out of the back-forward cache had its timers stopped.
    addEventListener('pageshow', listener);
    return () => {
      document.removeEventListener('visibilitychange', listener);
      removeEventListener('online', listener);
      removeEventListener('pageshow', listener);
    };
  },
};
