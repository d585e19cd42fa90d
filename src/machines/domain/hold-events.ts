import type { JsonValue } from '../json.ts';

const ofTasks = 'task_deferred';
const ofHolds = 'hold_deferred';

/** Returns the name in the log of an event of a hold: its wait has the events of a task's wait under its own name. */
export function eventOfHold(event: string): string {
  return event.startsWith(ofTasks) ? ofHolds + event.slice(ofTasks.length) : event;
}

/** Returns the event of a task's wait that has the same meaning and fields; every other event unchanged. */
export function eventOfWait(event: JsonValue | undefined): string {
  if (typeof event !== 'string') return '';
  return event.startsWith(ofHolds) ? ofTasks + event.slice(ofHolds.length) : event;
}
