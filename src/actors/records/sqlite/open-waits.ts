import { createReadStream } from 'node:fs';
import type { JsonObject } from '../../../machines/json.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { callFields } from '../log/audit-event-of.ts';
import { maximumLineBytes } from '../log/chain-format.ts';
import { LineSplitter } from '../log/line-splitter.ts';
import { recordedEvent } from '../log/recorded-event.ts';
import { TaskInLog, taskOfLine } from './task-in-log.ts';

/** Bytes of a line that identify the start of a wait. */
const waitBegins = Buffer.from('"event":"task_deferred"');

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
        if (
          waiting.size > 0 ||
          Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(waitBegins)
        ) {
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
  const isBeginning = line['event'] === 'task_deferred';
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
    return [{ ...envelope, event: 'task_deferred_abandoned', ts, seq: seq + 1, fields }];
  });
}
