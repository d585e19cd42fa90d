import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { maximumDuration, parseDuration } from '../machines/duration.ts';
import type { JsonObject } from '../machines/json.ts';

/** Duration syntax for consumers of the JSON Schema. */
export const durationPattern = String.raw`^(?:0|(?:(?:\d+\.?\d*|\.\d+)(?:ms|[dhms]))+)$`;

/** A duration in whole milliseconds; zero is allowed. */
export const duration = durationUpTo(maximumDuration);

/** A duration above zero, in whole milliseconds. */
export const positiveDuration = aboveZero(duration);

/** A duration above zero and of at most 366 days, in whole milliseconds; no timer waits for it. */
export const longDuration = aboveZero(durationUpTo(366 * 86_400_000));

function durationUpTo(maximum: number) {
  return z
    .string({ error: 'this is not a duration; write 90s, 5m or 1h30m' })
    .transform((text, context) => {
      try {
        return parseDuration(text, maximum);
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as RangeError).message });
        return z.NEVER;
      }
    })
    .meta({ pattern: durationPattern });
}

function aboveZero(of: typeof duration) {
  return of.refine((milliseconds) => milliseconds > 0, {
    error: 'the duration must be above zero; write 90s, 5m or 1h30m',
  });
}

/** A name of a time zone. */
export const timeZone = z.string().refine(isZone, {
  error: 'this is no time zone; write a name such as Europe/Berlin',
});

function isZone(text: string): boolean {
  try {
    Temporal.Now.zonedDateTimeISO(text);
    return true;
  } catch {
    return false;
  }
}

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

/** Keys that every rule of a tool has. */
export const ruleKeys = {
  when: z
    .string()
    .min(1, { error: 'the condition is empty; write an expression, or omit it' })
    .optional()
    .meta({
      description:
        'Condition in CEL under which the rule applies; always if omitted. A rule whose condition cannot be evaluated applies, unless it is `allow: true`.',
      example: 'args.amount > 50.0',
    }),
  shadow: z
    .boolean()
    .default(false)
    .describe('The rule decides nothing; the log has `policy_shadow` when it would have.'),
};

/** One rule, or a list of rules of which the first that applies counts. Parses to a list. */
export function rulesOf<Rule extends z.ZodType>(rule: Rule) {
  return z
    .union([rule, z.array(rule).min(1, { error: 'the list has no rule; add one' })])
    .transform((rules) => (Array.isArray(rules) ? rules : [rules]) as z.output<Rule>[]);
}
