import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { normaliseEmail } from '../../machines/governance/email.ts';

const email = z
  .string()
  .transform((text, context) => {
    const normal = normaliseEmail(text);
    if (normal !== null) return normal;
    context.addIssue({ code: 'custom', message: 'this is no email; write name@example.com' });
    return z.NEVER;
  })
  .meta({ format: 'email' });

const zone = z.string().refine(isZone, {
  error: 'this is no time zone; write a name such as Europe/Berlin',
});

const local = z.string().refine((text) => isMoment(text, 'UTC'), {
  error: 'this is no time; write 2026-11-02T09:00, a date, or a time with its offset',
});

const clockTime = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, {
  error: 'this is no time of the day; write 09:00',
});

const absence = z.strictObject({
  person: email,
  from: local.optional().describe('Start; at once if omitted.'),
  until: local.describe('End; the person decides again from then on.'),
});

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const override = absence.required({ from: true });

const rotation = z.strictObject({
  zone: zone.optional().describe('Time zone; that of the file if omitted.'),
  people: z.array(email).default([]).describe('People in the order of their turns.'),
  starts: z
    .string()
    .refine(isPlain, { error: 'this is no local time; write 2026-11-02T09:00' })
    .optional()
    .describe('Local time of the first turn; required with `people`.'),
  turn: z.enum(['daily', 'weekly', 'biweekly']).default('weekly').describe('Length of a turn.'),
  shifts: z
    .array(
      z.strictObject({
        person: email,
        days: z.array(z.enum(dayNames)).min(1),
        from: clockTime.default('00:00'),
        to: clockTime.default('24:00'),
      }),
    )
    .default([])
    .describe('Parts of the week, instead of turns; together they cover the whole week.'),
  overrides: z.array(override).default([]).describe('Times in which another person is on call.'),
});

/** `people.yaml`: groups, on-call rotations and absences (docs/approvals.md). */
export const peopleSchema = z.object({
  zone: zone.default('UTC').describe('Time zone of times without an offset.'),
  groups: z
    .record(
      z.string().regex(/\S/),
      z.union(
        [
          z.array(email),
          z.strictObject({
            members: z.array(email).default([]),
            slack: z.string().regex(/^S[A-Z0-9]{2,}$/),
          }),
        ],
        { error: 'this must be a list of emails, or a map such as {slack: S0123ABC}' },
      ),
    )
    .default({})
    .describe('Emails by group, or a Slack user group.'),
  oncall: z.record(z.string().regex(/\S/), rotation).default({}).describe('Rotations by name.'),
  away: z
    .array(absence.extend({ delegate: email.optional() }))
    .default([])
    .describe('Absences; `delegate` decides meanwhile.'),
});

export type PeopleFile = z.output<typeof peopleSchema>;

/** Returns the epoch milliseconds of a time; one without an offset is a local time of the zone. Throws RangeError. */
export function momentIn(text: string, timeZone: string): number {
  if (/(?:Z|[+-]\d\d:?\d\d)$/i.test(text)) return Temporal.Instant.from(text).epochMilliseconds;
  return Temporal.PlainDateTime.from(text).toZonedDateTime(timeZone).epochMilliseconds;
}

function isMoment(text: string, timeZone: string): boolean {
  return isWithout(() => momentIn(text, timeZone));
}

function isPlain(text: string): boolean {
  return !/(?:Z|[+-]\d\d:?\d\d)$/i.test(text) && isWithout(() => Temporal.PlainDateTime.from(text));
}

function isZone(text: string): boolean {
  return isWithout(() => Temporal.Now.zonedDateTimeISO(text));
}

function isWithout(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}
