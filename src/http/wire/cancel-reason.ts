import { z } from 'zod';
import { fieldOf } from './field-of.ts';
import { Problem } from './problem.ts';

/** Maximum length of a stored reason in characters (docs/contract/task.md). */
const longestReason = 256;

export const cancel = z
  .object({ reason: z.string().nullable().optional().describe('Kept to 256 characters.') })
  .meta({ id: 'Cancel' });

/** Reads the reason of a cancel; defaults to `external_signal`. Throws a 400 Problem. */
export function readCancelReason(body: unknown): string {
  const reason = fieldOf(body, 'reason');
  if (reason === undefined || reason === null || reason === '') return 'external_signal';
  if (typeof reason !== 'string') throw new Problem('invalid_body', 'reason must be a string');
  return [...reason.toWellFormed()].slice(0, longestReason).join('');
}
