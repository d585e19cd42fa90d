import { resolve } from 'node:path';
import { systemClock } from '../../actors/clock.ts';
import { type ConfigProblem, loadConfig } from '../../actors/config/config.ts';
import { logFilesOf, tailLines, verifyFiles } from '../../actors/records/records.ts';
import { tailServeLog } from '../../actors/workspace/workspace.ts';
import type { AgentFiles } from '../../http/dashboard/dashboard-ports.ts';
import type { AuditVerdictJson } from '../../http/wire/dashboard/audit-json.ts';
import type { ProblemJson } from '../../http/wire/dashboard/config-json.ts';
import { checkAgent } from '../validate.ts';
import { lenientEnvironment } from './lenient-environment.ts';
import { policyOf } from './policy-of.ts';

/** Events of one task that are shown. */
const mostOfTask = 1_000;

/** Lines of a log that are looked through from its end. */
const mostLines = 100_000;

/** Reads the files of agents for the dashboard. */
export function agentFiles(env: NodeJS.ProcessEnv): AgentFiles {
  const clock = systemClock();
  const auditPathOf = async (directory: string): Promise<string> => {
    const loaded = loadConfig(directory, await lenientEnvironment(directory, env));
    return resolve(directory, loaded.ok ? loaded.config.audit.path : '.service/audit.ndjson');
  };
  return {
    async check(directory, content) {
      const given = await lenientEnvironment(directory, env);
      const { problems, warnings } = await checkAgent(directory, given, content);
      const errors = problems.map(asProblemJson);
      return { valid: errors.length === 0, errors, warnings: warnings.map(asProblemJson) };
    },
    policy: async (directory) => policyOf(directory, await lenientEnvironment(directory, env)),
    async audit(directory, { limit, before }) {
      const path = await auditPathOf(directory);
      const files = logFilesOf(path);
      if (files.length === 0) {
        return { events: [], first: 1, total: 0, verified: { ok: true, events: 0 }, path };
      }
      const verified = await verify(files);
      const { events: total } = verified;
      const last = Math.min(total, before === null ? total : before - 1);
      const wanted = Math.min(mostLines, total - Math.max(0, last - limit));
      const lines = await Array.fromAsync(tailLines({ path, limit: wanted, clock }));
      const from = total - lines.length + 1;
      const events = lines
        .map(({ text }, index) => ({ seq: from + index, line: text }))
        .filter(({ seq }) => seq <= last && seq > last - limit);
      return { events, first: events[0]?.seq ?? last + 1, total, verified, path };
    },
    async timeline(directory, task) {
      const path = await auditPathOf(directory);
      const lines = tailLines({ path, task, limit: mostOfTask, clock });
      return (await Array.fromAsync(lines)).flatMap(({ event }) => {
        if (event === null) return [];
        const { event: name, ts, seq, fields } = event;
        return [
          {
            seq: typeof seq === 'number' ? seq : 0,
            at: ts,
            event: name,
            fields: (fields ?? {}) as Record<string, unknown>,
          },
        ];
      });
    },
    logs: tailServeLog,
  };
}

/** Counts every line, also those after the first bad one. */
async function verify(files: readonly string[]): Promise<AuditVerdictJson> {
  let isOver = false;
  const verdict = await verifyFiles(files, { onBreak: () => (isOver = true) });
  if (verdict.ok && !isOver) return { ok: true, events: verdict.events };
  if (verdict.ok) return { ok: false, events: verdict.events };
  const { line, reason } = verdict;
  return { ok: false, events: await countLines(files), problem: reason, line };
}

async function countLines(files: readonly string[]): Promise<number> {
  const { createReadStream } = await import('node:fs');
  let count = 0;
  for (const file of files) {
    for await (const chunk of createReadStream(file)) {
      for (const byte of chunk as Buffer) if (byte === 10) count += 1;
    }
  }
  return count;
}

function asProblemJson({ message, line, column, path, file }: ConfigProblem): ProblemJson {
  if (file === 'service.yaml') return { message, line, column, path };
  return { message: `${file}:${line}:${column}: ${message}`, line: null, column: null, path };
}
