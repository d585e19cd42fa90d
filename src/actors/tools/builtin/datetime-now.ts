import type { Tool } from '../../ports/tool.ts';
import { ToolError } from '../../ports/tool.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';

/** Returns the time as ISO 8601 with milliseconds, in UTC or a given time zone. */
export function datetimeNow({ clock }: Pick<BuiltinDependencies, 'clock'>): Tool {
  return builtinTool({
    name: 'datetime_now',
    description: 'Tells the current date and time.',
    parameters: {
      type: 'object',
      properties: {
        timezone: {
          type: 'string',
          description: 'IANA name such as Europe/Berlin; UTC if omitted',
        },
      },
      additionalProperties: false,
    },
    idempotent: true,
    async run(args) {
      const timezone = args['timezone'];
      const now = new Date(clock.now());
      return typeof timezone === 'string' ? inZone(now, timezone) : now.toISOString();
    },
  });
}

function inZone(now: Date, timeZone: string): string {
  const parts = new Map(
    zoneFormat(timeZone)
      .formatToParts(now)
      .map((part) => [part.type, part.value]),
  );
  const get = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? '';
  const offset = get('timeZoneName').replace('GMT', '') || '+00:00';
  const date = `${get('year')}-${get('month')}-${get('day')}`;
  return `${date}T${get('hour')}:${get('minute')}:${get('second')}.${get('fractionalSecond')}${offset}`;
}

function zoneFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
      timeZoneName: 'longOffset',
    });
  } catch (error) {
    const message = `datetime_now: argument timezone must be an IANA time zone such as Europe/Berlin`;
    throw new ToolError(message, { cause: error, kind: 'invalid arguments' });
  }
}
