import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';

/** What is looked for in a log; an empty text takes all. */
export interface WantedLine {
  /** Part of the name of an event. */
  event: string;
  /** Part of the id of a task. */
  task: string;
  /** What was decided, such as `deny` or `approve`. */
  decision: string;
  /** Takes the id of the task as a whole. */
  isWholeTask?: boolean;
}

/** Text that stands in JSON as it is. */
const asItIs = /^[\w.:/-]+$/;

/** Says whether a line is one of those that are looked for. Most of the others are told by their bytes. */
export function takesLine(wanted: WantedLine, line: Uint8Array): boolean {
  const { event, task, decision, isWholeTask = false } = wanted;
  const bytes = Buffer.from(line.buffer, line.byteOffset, line.byteLength);
  for (const part of [task, event, decision]) {
    if (asItIs.test(part) && !bytes.includes(part)) return false;
  }
  const read = parsed(bytes);
  if (read === null) return false;
  const id = text(read['task_id']);
  const fields = isJsonObject(read['fields']) ? read['fields'] : {};
  return (
    text(read['event']).includes(event) &&
    (isWholeTask ? id === task : id.includes(task)) &&
    (decision === '' || fields['decision'] === decision)
  );
}

function parsed(bytes: Buffer): JsonObject | null {
  try {
    const value = JSON.parse(bytes.toString()) as JsonValue;
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
