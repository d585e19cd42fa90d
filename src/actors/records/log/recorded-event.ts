import { z } from 'zod';
import { type JsonObject, parseJson } from '../../../machines/json.ts';

const shape = z.looseObject({
  event: z.string(),
  ts: z.string(),
  task_id: z.string().optional(),
});

/** An event as stored in a log; unnamed members are unvalidated. */
export type RecordedEvent = JsonObject & { event: string; ts: string; task_id?: string };

/** Parses an event from a line; `null` if the line contains none. */
export function recordedEvent(line: Uint8Array): RecordedEvent | null {
  const parsed = shape.safeParse(parseJson(new TextDecoder().decode(line)));
  return parsed.success ? (parsed.data as RecordedEvent) : null;
}
