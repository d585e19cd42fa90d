import { expect } from 'vitest';
import type { RecordedEvent } from '../../src/actors/records/log/audit.ts';
import type { JsonObject } from '../../src/machines/json.ts';

/** The ways a wait can end, as the log has them. */
const resolutions = ['task_deferred_decision', 'task_deferred_timeout', 'task_deferred_abandoned'];

/**
 * Checks what must hold of the log of one task whatever happened to it: no gap in `seq`, every wait
 * ended once at most, no deferred tool started without the approval right before it, every start
 * ended, nothing ran after the end.
 */
export function checkLogOf(events: readonly RecordedEvent[], deferredTool: string): void {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  let isPending = false;
  let isReleased = false;
  let isRunning = false;
  let hasEnded = false;
  for (const { event, ...rest } of events) {
    const fields = (rest['fields'] ?? {}) as JsonObject;
    expect(hasEnded).toBe(false);
    if (event === 'task_deferred') {
      expect([isPending, isReleased, isRunning]).toEqual([false, false, false]);
      isPending = true;
    } else if (resolutions.includes(event) && fields['authorized'] !== false) {
      expect(isPending).toBe(true);
      isPending = false;
      isReleased = fields['decision'] === 'approve';
    } else if (event === 'tool_exec' && fields['phase'] === 'start') {
      if (fields['tool'] === deferredTool) expect(isReleased).toBe(true);
      expect(isRunning).toBe(false);
      [isReleased, isRunning] = [false, true];
    } else if (event === 'tool_exec') {
      expect(isRunning).toBe(true);
      isRunning = false;
    } else if (event === 'session_end') {
      expect([isPending, isRunning]).toEqual([false, false]);
      hasEnded = true;
    }
  }
}
