import * as z from 'zod';
import { parseEnv } from '../../shared/runtime/env.ts';

const schema = z.object({ IMPORTS_TABLE: z.string(), IMPORTS_BUCKET: z.string() });

export const readEnv = () => parseEnv(schema, process.env);
