import { isJsonObject, type JsonValue } from '../../../machines/json.ts';
import { plainLine } from '../../../machines/plain-line.ts';
import { cutToRunes } from '../../../machines/text.ts';
import type { RecordedEvent } from './recorded-event.ts';

const maximumValueRunes = 80;
const bare = /^[^\s"\\=]+$/u;

/**
 * Formats an event as one line for a terminal: time, name, task and its fields in brief. Control, format and
 * line-breaking characters are escaped, so that a caller's text cannot manipulate the terminal.
 */
export function formatEvent(event: RecordedEvent): string {
  const parts = [event.ts, event.event].map((part) => word(part));
  if (event.task_id !== undefined) parts.push(`task=${word(event.task_id)}`);
  const fields = isJsonObject(event['fields']) ? event['fields'] : {};
  for (const [name, value] of Object.entries(fields)) parts.push(`${word(name)}=${brief(value)}`);
  return parts.join(' ');
}

/** Formats the beginning of a line without a valid event for a terminal. */
export function formatBadLine(text: string): string {
  return `bad line: ${plainLine(JSON.stringify(cut(text)))}`;
}

function brief(value: JsonValue): string {
  return typeof value === 'string' ? word(value) : plainLine(cut(JSON.stringify(value)));
}

/** Returns an unambiguous text as is, else as a JSON string. */
function word(text: string): string {
  const short = cut(text);
  return bare.test(short) && plainLine(short) === short ? short : plainLine(JSON.stringify(short));
}

function cut(text: string): string {
  const short = cutToRunes(text, maximumValueRunes);
  return short.length < text.length ? `${short}…` : short;
}
