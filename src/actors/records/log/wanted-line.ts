import { isJsonObject, type JsonValue, parseJson } from '../../../machines/json.ts';
import { isInRange, type TimeRange } from '../../../machines/time-range.ts';

/** Search criteria for log lines; an empty text matches all. */
export interface WantedLine extends TimeRange {
  /** Substring of the event name. */
  event: string;
  /** Substring of the task id. */
  task: string;
  /** The decision, such as `deny` or `approve`. */
  decision: string;
  /** Matches the task id exactly. */
  isWholeTask?: boolean;
}

/** Text that JSON represents without escapes. */
const asItIs = /^[\w.:/-]+$/;

/**
 * Returns whether a line matches the criteria. Most non-matching lines are excluded by their bytes, without parsing.
 */
export function takesLine(wanted: WantedLine, line: Uint8Array): boolean {
  const { event, task, decision, isWholeTask = false } = wanted;
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  for (const part of [task, event, decision]) {
    if (asItIs.test(part) && !bytes.includes(part)) return false;
  }
  const read = parseJson(bytes.toString());
  if (!isJsonObject(read)) return false;
  const id = text(read['task_id']);
  const fields = isJsonObject(read['fields']) ? read['fields'] : {};
  return (
    text(read['event']).includes(event) &&
    (isWholeTask ? id === task : id.includes(task)) &&
    (decision === '' || fields['decision'] === decision) &&
    isInRange(Date.parse(text(read['ts'])), wanted)
  );
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
