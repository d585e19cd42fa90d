import { expect } from 'vitest';
import type { RecordedEvent } from '../../src/actors/records/log/audit.ts';
import { brokenTask } from './broken-task.ts';

/** Checks what must hold for the whole log of one run of a task after any events; each line is a step of it. */
export function checkLogOf(events: readonly RecordedEvent[], deferredTool: string): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(brokenTask(events, { held: deferredTool })).toEqual([]);
  const end = events.findIndex(({ event }) => event === 'session_end');
  expect([-1, events.length - 1]).toContain(end);
}
