import { chainLine, checkpoint, GENESIS } from '../../../src/actors/audit/audit.ts';
import type { AuditEvent } from '../../../src/actors/ports.ts';

/** The lines, with their newlines, that some events make; `head` is the hash of the last. */
export function logOf(
  events: readonly AuditEvent[],
  previousHash = GENESIS,
): { lines: string[]; head: string } {
  let head = previousHash;
  const lines: string[] = [];
  for (const event of events) {
    const { line, hash } = chainLine(event, head);
    lines.push(`${line}\n`);
    head = hash;
  }
  return { lines, head };
}

/** Some events of one task, told apart by `seq` and `fields.n`. */
export function events(count: number, task = 't-1'): AuditEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    event: 'tool_exec',
    ts: '2026-07-01T09:00:00.000Z',
    seq: index + 1,
    task_id: task,
    fields: { n: index, note: 'zu spät 🧾' },
  }));
}

/** A log of `count` events that ends in a checkpoint. */
export function checkpointedLog(count: number): { lines: string[]; head: string } {
  const { lines, head } = logOf(events(count));
  const last = logOf([checkpoint('2026-07-01T09:05:00.000Z', { count, head })], head);
  return { lines: [...lines, ...last.lines], head: last.head };
}
