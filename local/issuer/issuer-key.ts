import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { z } from 'zod';

/** By which tokens are signed, and what others hold them against. */
export interface IssuerKey {
  readonly private: CryptoKey;
  readonly public: JWK;
}

export const ALGORITHM = 'RS256';

const jwkSchema = z.looseObject({
  kty: z.literal('RSA'),
  kid: z.string(),
  n: z.string(),
  e: z.string(),
  d: z.string(),
});

/** The key that a file keeps, made where there is none: of several that make one at once, one is kept. */
export async function readIssuerKey(file: string): Promise<IssuerKey> {
  const jwk = read(file) ?? (await make(file));
  const { kty, kid, n, e } = jwk;
  const key = await importJWK(jwk, ALGORITHM);
  if (!(key instanceof CryptoKey)) throw new Error(`${file}: expected an RSA key, got another.`);
  return { private: key, public: { kty, kid, n, e, alg: ALGORITHM, use: 'sig' } };
}

function read(file: string): z.infer<typeof jwkSchema> | undefined {
  try {
    return jwkSchema.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

async function make(file: string): Promise<z.infer<typeof jwkSchema>> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = jwkSchema.parse({ ...(await exportJWK(privateKey)), kid: `local-${Date.now()}` });
  mkdirSync(dirname(file), { recursive: true });
  const mine = `${file}.${process.pid}.${jwk.kid}`;
  writeFileSync(mine, JSON.stringify(jwk), { mode: 0o600 });
  try {
    linkSync(mine, file);
    return jwk;
  } catch (error) {
    const theirs = read(file);
    if (theirs !== undefined) return theirs;
    throw error;
  } finally {
    rmSync(mine, { force: true });
  }
}
