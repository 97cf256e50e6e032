import net, { Server } from 'node:net';

/** A port that was free a moment ago, for a program that cannot say which one it chose. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === 'string') throw new Error('No port was free.');
  return address.port;
}

/**
 * Makes every server of this process listen on 127.0.0.1 only. fauxqs listens on all interfaces and
 * cannot be told otherwise, which would offer a developer's files to the café's network.
 */
export function listenOnLoopbackOnly(): void {
  const listen = Server.prototype.listen;
  Object.defineProperty(Server.prototype, 'listen', {
    value(this: Server, ...args: unknown[]) {
      const [first, ...rest] = args;
      const options = typeof first === 'object' && first !== null ? first : { port: first };
      return Reflect.apply(listen, this, [{ ...options, host: '127.0.0.1' }, ...rest]);
    },
  });
}
