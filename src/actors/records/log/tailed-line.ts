import { maximumLineBytes } from './chain-format.ts';
import { type RecordedEvent, recordedEvent } from './recorded-event.ts';

/** One line of a log; `event` is `null` when it holds none. */
export interface TailedLine {
  text: string;
  event: RecordedEvent | null;
}

/** Which lines of a log are meant. */
export interface LineFilter {
  /** Only events of this task. */
  task?: string;
  /** Only events of this name, or those whose name begins with what stands before a final `*`. */
  event?: string;
}

/** Returns a line that a filter lets through, else `null`; one that holds no event is let through by an empty filter alone. */
export function matchingLine(line: Uint8Array, { task, event }: LineFilter): TailedLine | null {
  const read = line.length > maximumLineBytes ? null : recordedEvent(line);
  const text = () => new TextDecoder().decode(line);
  if (read === null) {
    return task === undefined && event === undefined ? { text: text(), event: null } : null;
  }
  if (task !== undefined && read.task_id !== task) return null;
  if (event !== undefined && !isNamed(read.event, event)) return null;
  return { text: text(), event: read };
}

function isNamed(name: string, pattern: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
