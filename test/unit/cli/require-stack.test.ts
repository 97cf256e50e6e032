import { createServer, type Server } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { requireStack } from '../../../cli/destroy/require-stack.ts';
import { UsageError } from '../../../cli/usage-error.ts';

let server: Server;
afterEach(() => {
  vi.unstubAllEnvs();
  server.close();
});

/** CloudFormation, with one answer to everything. */
async function answering(status: number, body: string): Promise<void> {
  server = createServer((_request, response) => void response.writeHead(status).end(body));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port.');
  vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${address.port}`);
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
}

const error = (code: string, message: string) =>
  `<ErrorResponse><Error><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;

const target = { source: { file: 'cdk-outputs.json', stack: 'Glimpse' } };

test('pages are not published for a stack that was deleted, though its bucket stays', async () => {
  await answering(400, error('ValidationError', 'Stack with id Glimpse does not exist'));
  await expect(requireStack(target)).rejects.toThrow(
    new UsageError(
      'There is no stack Glimpse, which cdk-outputs.json is of: it may be deleted, or be in another account or region (AWS_PROFILE, AWS_REGION).',
    ),
  );
});

test('a stack that is there will do, and so will one that may not be looked at', async () => {
  await answering(
    200,
    '<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>Glimpse</StackName></member></Stacks></DescribeStacksResult></DescribeStacksResponse>',
  );
  await requireStack(target);
  server.close();
  await answering(403, error('AccessDenied', 'not authorized'));
  await requireStack(target);
});
