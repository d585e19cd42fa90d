import { isInRange, type TimeRange } from '../../../machines/time-range.ts';
import { maximumLineBytes } from './chain-format.ts';
import { type RecordedEvent, recordedEvent } from './recorded-event.ts';

/** One line of a log; `event` is `null` if it contains none. */
export interface TailedLine {
  text: string;
  event: RecordedEvent | null;
}

/** Filter for the lines of a log. */
export interface LineFilter extends TimeRange {
  task?: string;
  /** Event name; with a final `*`, all events with that prefix. */
  event?: string;
}

/** Returns the line if it matches a filter, else `null`. A line without an event matches only an empty filter. */
export function matchingLine(
  line: Uint8Array,
  { task, event, from, to }: LineFilter,
): TailedLine | null {
  const read = line.length > maximumLineBytes ? null : recordedEvent(line);
  const text = () => new TextDecoder().decode(line);
  if (read === null) {
    const isEmpty = [task, event, from, to].every((part) => part === undefined);
    return isEmpty ? { text: text(), event: null } : null;
  }
  if (task !== undefined && read.task_id !== task) return null;
  if (event !== undefined && !isNamed(read.event, event)) return null;
  if (!isInRange(Date.parse(read.ts), { from, to })) return null;
  return { text: text(), event: read };
}

function isNamed(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
