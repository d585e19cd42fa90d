import { resolve } from 'node:path';
import { formatEvent, tailLines } from '../../actors/audit/audit.ts';
import { systemClock } from '../../actors/clock.ts';
import { loadConfig } from '../../actors/config/config.ts';
import type { Session } from '../session.ts';

export interface AuditTailOptions {
  dir: string;
  file?: string;
  task?: string;
  event?: string;
  lines: number;
  follow?: boolean;
}

/** `audit tail`: the latest events of a log, and with --follow those to come (contract section 10). */
export async function auditTail(
  { output, interruption, env }: Session,
  { dir, file, task, event, lines, follow = false }: AuditTailOptions,
): Promise<void> {
  const signal = interruption.listen();
  const events = tailLines({
    path: file ?? auditPathOf(dir, env),
    limit: lines,
    follow,
    signal,
    clock: systemClock(),
    ...(task === undefined ? {} : { task }),
    ...(event === undefined ? {} : { event }),
  });
  for await (const recorded of events) {
    output.line(formatEvent(recorded));
    output.json(recorded);
    signal.throwIfAborted();
  }
  signal.throwIfAborted();
}

/** Where an agent's log is; the usual place while its configuration cannot be read. */
function auditPathOf(directory: string, env: NodeJS.ProcessEnv): string {
  const loaded = loadConfig(directory, env);
  return resolve(directory, loaded.ok ? loaded.config.audit.path : '.service/audit.ndjson');
}
