import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import {
  DescribeParametersCommand,
  GetParameterCommand,
  ParameterNotFound,
  SSMClient,
} from '@aws-sdk/client-ssm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fixture, lambda, startFixture } from './fixture-stack.ts';

const NAMES = `export const handler = () => process.env;`;
const Name = '/glimpse/provider-key';

/** Not called, and so named that no process of theirs starts ahead. */
const worker = (line: string, requestsPerMinute: number, parameter: string) =>
  lambda('names', {
    Environment: {
      Variables: {
        PROVIDER_KEY_PARAMETER: parameter,
        ALLOWANCE: JSON.stringify({
          line,
          requestsPerMinute,
          tokensPerMinute: null,
          interactiveShare: 0,
          frameSeconds: 2,
          reserve: 0.1,
        }),
      },
    },
  });
const workers = {
  SummariesInteractive: worker('interactive', 600, '/glimpse/one'),
  SummariesBulk: worker('bulk', 1200, '/glimpse/two'),
  SummariesShared: worker('shared', 600, '/glimpse/three'),
  SummariesSharedToo: worker('shared', 600, '/glimpse/four'),
};

let fixture: Fixture;
let ssm: SSMClient;

beforeAll(async () => {
  fixture = await startFixture(
    {
      ...workers,
      Worker: lambda('names', {
        Environment: { Variables: { PROVIDER_KEY_PARAMETER: Name, OTHER: '/glimpse/other' } },
      }),
    },
    { names: NAMES },
    { environment: { ...process.env, GLIMPSE_PROVIDER_KEY: 'a-key-of-mine' } },
  );
  ssm = new SSMClient({
    region: 'us-east-1',
    endpoint: fixture.cloud.endpoints.ssm,
    credentials: fixture.cloud.endpoints.credentials,
    maxAttempts: 1,
  });
});
afterAll(() => fixture.stop());

test('a function reads the parameter that its environment names', async () => {
  const { Parameter } = await ssm.send(new GetParameterCommand({ Name, WithDecryption: true }));
  expect(Parameter).toMatchObject({
    Name,
    Type: 'SecureString',
    Value: 'a-key-of-mine',
    ARN: 'arn:aws:ssm:us-east-1:000000000000:parameter/glimpse/provider-key',
  });
});

test('without decryption it is of no use, as on AWS', async () => {
  const { Parameter } = await ssm.send(new GetParameterCommand({ Name }));
  expect(Parameter?.Value).not.toContain('a-key-of-mine');
});

test('there is no other parameter and no other operation', async () => {
  const other = new GetParameterCommand({ Name: '/glimpse/other', WithDecryption: true });
  await expect(ssm.send(other)).rejects.toBeInstanceOf(ParameterNotFound);
  await expect(ssm.send(new DescribeParametersCommand())).rejects.toThrow(
    'does not know which permission AmazonSSM.DescribeParameters takes',
  );
});

test('a page that calls this machine by a name of its own gets nothing', async () => {
  const { hostname, port } = new URL(fixture.cloud.endpoints.ssm);
  const asked = request({
    hostname,
    port,
    method: 'POST',
    headers: { host: `evil.example:${port}`, 'x-amz-target': 'AmazonSSM.GetParameter' },
  });
  asked.end(JSON.stringify({ Name, WithDecryption: true }));
  const answer = await new Promise<{ status: number | undefined; body: string }>((resolve) => {
    asked.on('response', async (response) => {
      resolve({ status: response.statusCode, body: await text(response) });
    });
  });
  expect(answer.status).toBe(403);
  expect(answer.body).not.toContain('a-key-of-mine');
});

describe('the provider on this machine enforces the accounts that the workers are told of', () => {
  /** What each of the workers may ask of the provider in a minute, by the key of its parameter. */
  async function limitsOf({ cloud }: Fixture): Promise<Record<string, string | null>> {
    const { endpoints } = cloud;
    const client = new SSMClient({
      region: 'us-east-1',
      endpoint: endpoints.ssm,
      credentials: endpoints.credentials,
    });
    const answers = ['one', 'two', 'three', 'four'].map(async (name) => {
      const asked = new GetParameterCommand({ Name: `/glimpse/${name}`, WithDecryption: true });
      const { Parameter: found } = await client.send(asked);
      const body = { model: 'm', messages: [{ role: 'user', content: 'A stool.' }], max_tokens: 9 };
      const { headers } = await fetch(`${endpoints.provider}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${found?.Value}` },
        body: JSON.stringify(body),
      });
      return [name, headers.get('x-ratelimit-limit-requests')];
    });
    return Object.fromEntries(await Promise.all(answers));
  }

  const ask = async (options: Parameters<typeof startFixture>[2] = {}) => {
    const own = await startFixture(workers, { names: NAMES }, options);
    return await limitsOf(own).finally(own.stop);
  };

  test('one for each key where the modes have one of their own', async () => {
    expect(await ask()).toEqual({ one: '600', two: '1200', three: '600', four: '600' });
  });

  test('one for all with the one key of a developer', async () => {
    expect(await limitsOf(fixture)).toEqual({ one: '600', two: '600', three: '600', four: '600' });
  });

  test('and another where one is asked for', async () => {
    const account = { requestsPerMinute: 60, tokensPerMinute: 1000 };
    const limits = await ask({ provider: { account } });
    expect(limits).toEqual({ one: '60', two: '60', three: '60', four: '60' });
  });
});

test('functions are told where SSM and the model provider are', async () => {
  const { ssm: parameters, provider } = fixture.cloud.endpoints;
  const invoked = await fixture.cloud.invoke('test-worker', {});
  if (invoked.kind !== 'answer') throw new Error(JSON.stringify(invoked));
  const environment = JSON.parse(invoked.payload);
  expect(environment).toMatchObject({
    AWS_ENDPOINT_URL_SSM: parameters,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: provider,
    OPENAI_BASE_URL: `${provider}/v1`,
    ANTHROPIC_BASE_URL: provider,
  });
  expect(environment).not.toHaveProperty('GLIMPSE_PROVIDER_KEY');
});
