import * as z from 'zod';
import { parseEnv } from '../../shared/runtime/env.ts';

const schema = z.object({ IMAGES_TABLE: z.string() });

export const readEnv = () => parseEnv(schema, process.env);
