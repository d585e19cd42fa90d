import { z } from 'zod';
import { isWellFormed } from '../../machines/json.ts';

/** Any JSON object, of whole Unicode characters: half of one has no digest. */
export const jsonObject = z
  .record(z.string(), z.unknown(), { error: 'must be an object' })
  .refine(isWellFormed, { error: 'has half of a Unicode character; send whole characters' });
