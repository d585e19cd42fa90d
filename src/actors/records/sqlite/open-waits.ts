import { createReadStream } from 'node:fs';
import type { JsonObject } from '../../../machines/json.ts';
import type { AuditEvent } from '../../ports.ts';
import { maximumLineBytes } from '../log/chain-format.ts';
import { LineSplitter } from '../log/line-splitter.ts';
import { recordedEvent } from '../log/recorded-event.ts';
import { TaskInLog, taskOfLine } from './task-in-log.ts';

/** The name with which every wait begins, as it stands in a line. */
const waitBegins = Buffer.from('"event":"task_deferred"');

/**
 * Finds the calls that a log says are waiting for a decision, given its files, oldest first. What it keeps
 * grows with the waits that are open at one time, not with the log.
 */
export async function openWaits(files: readonly string[]): Promise<TaskInLog[]> {
  const waiting = new Map<string, TaskInLog>();
  for (const file of files) {
    const splitter = new LineSplitter(maximumLineBytes);
    for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) {
      for (const bytes of splitter.push(chunk as Uint8Array)) {
        // Without an open wait only a line that begins one is worth reading.
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
 * Creates the events of waits that were lost with their store (docs/contract/audit.md).
 *
 * @param at epoch milliseconds
 */
export function wordsOfLostWaits(waits: readonly TaskInLog[], at: number): AuditEvent[] {
  const ts = new Date(at).toISOString();
  return waits.flatMap(({ envelope, seq, waiting }): AuditEvent[] => {
    if (waiting === null) return [];
    const wait = Math.max(0, at - waiting.since);
    const fields = { tool: waiting.tool, reason: 'store_lost', wait_ms: wait };
    return [{ ...envelope, event: 'task_deferred_abandoned', ts, seq: seq + 1, fields }];
  });
}
