import { Agent, Dispatcher1Wrapper } from 'undici';

/** Load balancers close what is idle for a minute, just as somebody may be sending on it. */
const IDLE_MS = 55_000;
const CONNECT_MS = 5_000;

export interface Connections {
  /** For the built-in fetch. */
  readonly dispatcher: Dispatcher1Wrapper;
  close(): void;
}

/** A pool of kept-alive connections. More calls than `limit` wait in it, unseen: it must be at least the gate. */
export function openConnections(limit: number): Connections {
  const agent = new Agent({
    connections: limit,
    // One call a connection, so that the limit is one of calls.
    allowH2: false,
    keepAliveTimeout: IDLE_MS,
    // A call's time is bounded as a whole, in boundedCall.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: CONNECT_MS },
  });
  return {
    // Node's fetch is an older undici than the package, and speaks to its agents as such.
    dispatcher: new Dispatcher1Wrapper(agent),
    close() {
      void agent.destroy();
    },
  };
}
