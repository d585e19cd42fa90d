import * as z from 'zod';
import { parseDuration } from '../../machines/duration.ts';
import type { JsonObject } from '../../machines/json.ts';

/** Duration syntax for consumers of the JSON Schema. */
export const durationPattern = String.raw`^(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ms|[dhms]))+)$`;

/** A duration in whole milliseconds; zero is allowed. */
export const duration = z
  .string({ error: 'this is not a duration; write 90s, 5m or 1h30m' })
  .transform((text, context) => {
    try {
      return parseDuration(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as RangeError).message });
      return z.NEVER;
    }
  })
  .meta({ pattern: durationPattern });

/** A duration above zero, in whole milliseconds. */
export const positiveDuration = duration.refine((milliseconds) => milliseconds > 0, {
  error: 'the duration must be above zero; write 90s, 5m or 1h30m',
});

/** Non-blank text. */
export const name = z
  .string()
  .refine((text) => text.trim() !== '', { error: 'this must not be empty; write a name' })
  .meta({ pattern: String.raw`\S` });

/**
 * True in a rule whose tool may be added later: no warning if the agent lacks the tool
 * (docs/contract/configuration.md).
 */
export const optionalTool = z
  .boolean()
  .default(false)
  .describe('The rule is for a tool that may appear later; no warning if the agent lacks it.');

export const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
  error: 'this must be the bare name of an environment variable, without ${}',
});

/** A map that is not interpreted. */
export const jsonObject = z
  .custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    { error: 'this must be a map of keys and values' },
  )
  .meta({ type: 'object' });
