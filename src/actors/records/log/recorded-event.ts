import { z } from 'zod';
import type { JsonObject } from '../../../machines/json.ts';

const shape = z.looseObject({
  event: z.string(),
  ts: z.string(),
  task_id: z.string().optional(),
});

/** An event as it stands in a log; what is not named here is whatever its line says. */
export type RecordedEvent = JsonObject & { event: string; ts: string; task_id?: string };

/** Reads an event from a line; `null` when the line holds none. */
export function recordedEvent(line: Uint8Array): RecordedEvent | null {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(line));
  } catch {
    // What is no JSON holds none, as nothing does.
  }
  const parsed = shape.safeParse(value);
  return parsed.success ? (parsed.data as RecordedEvent) : null;
}
