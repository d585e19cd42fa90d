import { Temporal } from 'temporal-polyfill';
import * as z from 'zod';
import { emailPattern, normaliseEmail } from '../../machines/governance/email.ts';
import { timeZone } from '../schema-value.ts';

const email = z
  .string()
  .transform((text, context) => {
    const normal = normaliseEmail(text);
    if (normal !== null) return normal;
    context.addIssue({ code: 'custom', message: 'this is no email; write name@example.com' });
    return z.NEVER;
  })
  .meta({ pattern: emailPattern, example: 'ann@example.com' });

const local = z.string().refine((text) => isMoment(text, 'UTC'), {
  error: 'this is no time; write 2026-11-02T09:00, a date, or a time with its offset',
});

const clockTime = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$|^24:00$/, {
  error: 'this is no time of the day; write 09:00',
});

const absence = z.strictObject({
  person: email.meta({ description: 'Email of the person.' }),
  from: local.optional().meta({
    description: 'Start; at once if omitted.',
    example: '2026-11-02T09:00',
  }),
  until: local.meta({
    description: 'End; the person decides again from then on.',
    example: '2026-11-09',
  }),
});

const dayNames = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

const override = absence.required({ from: true });

const shift = z.strictObject({
  person: email.meta({ description: 'Email of the person on call.' }),
  days: z
    .array(z.enum(dayNames))
    .min(1)
    .meta({ description: 'Days of the shift.', example: ['mon', 'tue'] }),
  from: clockTime.default('00:00').describe('Start on each of the days.'),
  to: clockTime.default('24:00').describe('End on each of the days.'),
});

const rotation = z.strictObject({
  zone: timeZone.optional().meta({
    description: 'Time zone; that of the file if omitted.',
    example: 'Europe/Berlin',
  }),
  people: z
    .array(email)
    .default([])
    .meta({
      description: 'People in the order of their turns.',
      example: ['ann@example.com', 'bob@example.com'],
    }),
  starts: z
    .string()
    .refine(isPlain, { error: 'this is no local time; write 2026-11-02T09:00' })
    .optional()
    .meta({
      description: 'Local time of the first turn; required with `people`.',
      example: '2026-11-02T09:00',
    }),
  turn: z.enum(['daily', 'weekly', 'biweekly']).default('weekly').describe('Length of a turn.'),
  shifts: z
    .array(shift)
    .default([])
    .describe('Parts of the week, instead of turns; together they cover the whole week.'),
  overrides: z.array(override).default([]).describe('Times in which another person is on call.'),
});

const slackGroup = z.strictObject({
  members: z
    .array(email)
    .default([])
    .meta({
      description: 'Members in addition to those of the Slack user group.',
      example: ['ann@example.com'],
    }),
  slack: z
    .string()
    .regex(/^S[A-Z0-9]{2,}$/)
    .meta({ description: 'Id of the Slack user group.', example: 'S0123ABC' }),
});

/** `people.yaml`: groups, on-call rotations and absences (docs/approvals.md). */
export const peopleSchema = z.object({
  zone: timeZone.default('UTC').describe('Time zone of times without an offset.'),
  groups: z
    .record(
      z.string().regex(/\S/),
      z.union([z.array(email), slackGroup], {
        error: 'this must be a list of emails, or a map such as {slack: S0123ABC}',
      }),
    )
    .default({})
    .meta({
      description: 'Emails by group, or a Slack user group.',
      example: { finance: ['ann@example.com'], platform: { slack: 'S0123ABC' } },
    }),
  oncall: z
    .record(z.string().regex(/\S/), rotation)
    .default({})
    .meta({
      description: 'Rotations by name.',
      example: { payments: { people: ['ann@example.com'], starts: '2026-11-02T09:00' } },
    }),
  away: z
    .array(
      absence.extend({
        delegate: email
          .optional()
          .meta({ description: 'Email of the person who decides during that time.' }),
      }),
    )
    .default([])
    .meta({
      description: 'Absences; `delegate` decides meanwhile.',
      example: [{ person: 'ann@example.com', until: '2026-11-09', delegate: 'bob@example.com' }],
    }),
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

function isWithout(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}
