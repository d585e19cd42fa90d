import { systemClock } from '../../actors/clock.ts';
import type { ConfigProblem } from '../../actors/config/config.ts';
import { tailLines } from '../../actors/records/records.ts';
import { tailServeLog } from '../../actors/workspace/workspace.ts';
import type { AgentFiles } from '../../http/dashboard/dashboard-ports.ts';
import type { ProblemJson } from '../../http/wire/dashboard/config-json.ts';
import { checkAgent } from '../validate.ts';
import { auditFilesOf } from './audit-files.ts';
import { AuditVerdicts } from './audit-verdicts.ts';
import { lenientEnvironment } from './lenient-environment.ts';
import { policyOf } from './policy-of.ts';

/** Events of one task that are shown. */
const mostOfTask = 1_000;

/** Lines of a log that are looked through from its end. */
const mostLines = 100_000;

/** Reads the files of agents for the dashboard. */
export function agentFiles(env: NodeJS.ProcessEnv): AgentFiles {
  const clock = systemClock();
  const verdicts = new AuditVerdicts();
  return {
    async check(directory, content) {
      const given = await lenientEnvironment(directory, env);
      const { problems, warnings } = await checkAgent(directory, given, content);
      const errors = problems.map(asProblemJson);
      return { valid: errors.length === 0, errors, warnings: warnings.map(asProblemJson) };
    },
    policy: async (directory) => policyOf(directory, await lenientEnvironment(directory, env)),
    async audit(directory, { limit, before }) {
      const { path, files } = await auditFilesOf(directory, env);
      const current = files.at(-1);
      if (current === undefined) {
        return { events: [], first: 1, total: 0, verified: { ok: true, events: 0 }, path };
      }
      const verified = await verdicts.of(files);
      const { events: total } = verified;
      const last = Math.min(total, before === null ? total : before - 1);
      const wanted = Math.min(mostLines, total - Math.max(0, last - limit));
      const lines = await Array.fromAsync(tailLines({ path: current, limit: wanted, clock }));
      const from = total - lines.length + 1;
      const events = lines
        .map(({ text }, index) => ({ seq: from + index, line: text }))
        .filter(({ seq }) => seq <= last && seq > last - limit);
      return { events, first: events[0]?.seq ?? last + 1, total, verified, path };
    },
    async timeline(directory, task) {
      const path = (await auditFilesOf(directory, env)).files.at(-1);
      if (path === undefined) return [];
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

function asProblemJson({ message, line, column, path, file }: ConfigProblem): ProblemJson {
  if (file === 'service.yaml') return { message, line, column, path };
  return { message: `${file}:${line}:${column}: ${message}`, line: null, column: null, path };
}
