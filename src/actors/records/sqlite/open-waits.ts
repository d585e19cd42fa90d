import { createReadStream } from 'node:fs';
import { eventOfHold, eventOfWait } from '../../../machines/domain/hold-events.ts';
import type { JsonObject } from '../../../machines/json.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { callFields } from '../log/audit-event-of.ts';
import { maximumLineBytes } from '../log/chain-format.ts';
import { LineSplitter } from '../log/line-splitter.ts';
import { recordedEvent } from '../log/recorded-event.ts';
import { TaskInLog, taskOfLine } from '../store/task-in-log.ts';

const opening = 'task_deferred';

/** Bytes of a line that identify the start of a wait, of a task or of a hold. */
const waitBegins = [opening, eventOfHold(opening)].map((event) =>
  Buffer.from(`"event":"${event}"`),
);

/**
 * Finds the calls that a log shows as waiting for a decision, from its files, oldest first. Memory grows with the
 * number of concurrent waits, not with the log.
 */
export async function openWaits(files: readonly string[]): Promise<TaskInLog[]> {
  const waiting = new Map<string, TaskInLog>();
  for (const file of files) {
    const splitter = new LineSplitter(maximumLineBytes);
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) {
      for (const bytes of splitter.push(chunk as Uint8Array)) {
        // Without an open wait only lines that start one need to be parsed.
        const line = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
        if (waiting.size > 0 || waitBegins.some((begins) => line.includes(begins))) {
          takeLine(recordedEvent(bytes), waiting);
        }
      }
    }
  }
  return [...waiting.values()];
}

function takeLine(line: JsonObject | null, waiting: Map<string, TaskInLog>): void {
  const id = line === null ? null : taskOfLine(line);
  if (line === null || id === null) return;
  const isBeginning = eventOfWait(line['event']) === opening;
  const task = waiting.get(id) ?? (isBeginning ? new TaskInLog(id) : null);
  if (task === null) return;
  task.take(line);
  if (task.waiting === null) waiting.delete(id);
  else waiting.set(id, task);
}

/**
 * Creates the events for waits that were lost with their store (docs/contract/audit.md).
 *
 * @param at epoch milliseconds
 */
export function wordsOfLostWaits(waits: readonly TaskInLog[], at: number): AuditEvent[] {
  const ts = new Date(at).toISOString();
  return waits.flatMap(({ envelope, seq, waiting }): AuditEvent[] => {
    if (waiting === null) return [];
    const wait = Math.max(0, at - waiting.since);
    const { call, policySha256, tool } = waiting;
    const named = callFields(call, policySha256);
    const fields = { ...named, tool, reason: 'store_lost', wait_ms: wait };
    const abandoned = 'task_deferred_abandoned';
    const event = waiting.isHold ? eventOfHold(abandoned) : abandoned;
    return [{ ...envelope, event, ts, seq: seq + 1, fields }];
  });
}
