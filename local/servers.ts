import { createServer, type RequestListener } from 'node:http';

export interface LocalServer {
  readonly port: number;
  readonly origin: string;
  /** Until it is told how, it answers that it is starting. */
  serve(listener: RequestListener): void;
  stop(): void;
}

/** Listens on this machine only. @param port 0 for any. */
export async function listen(port: number, what: string): Promise<LocalServer> {
  let current: RequestListener = (_request, response) => {
    response.writeHead(503, { 'retry-after': '1' }).end('Starting.');
  };
  const server = createServer((request, response) => current(request, response));
  // Longer than clients keep theirs, or one is closed just as a client sends on it.
  server.keepAliveTimeout = 65_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'EADDRINUSE' ? portInUse(port, what) : error);
    });
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No address.');
  return {
    port: address.port,
    origin: `http://127.0.0.1:${address.port}`,
    serve(listener) {
      current = listener;
    },
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function portInUse(port: number, what: string): Error {
  return new Error(
    `Port ${port}, for ${what}, is in use. Stop what uses it, or choose another first port: PORT=${port < 5000 ? 5000 : 4000} npm start`,
  );
}
