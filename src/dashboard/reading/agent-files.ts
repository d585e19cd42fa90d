import type { ConfigProblem } from '../../actors/config/config.ts';
import { SecretsError } from '../../actors/secrets/secrets.ts';
import { agentEnvironment } from '../../agent/agent-environment.ts';
import { checkAgent } from '../../agent/agent-findings.ts';
import { lenientEnvironment } from '../../agent/lenient-environment.ts';
import type { ProblemJson } from '../../http/wire/dashboard/config-json.ts';
import type { AgentFiles, AuditFiles } from '../routes/dashboard-ports.ts';
import { policyOf } from './policy-of.ts';
import { explainCalls, summaryOf } from './preview-policy.ts';

/** Reads agents' files for the dashboard; `audit` reads their logs. */
export function agentFiles(env: NodeJS.ProcessEnv, audit: Pick<AuditFiles, 'page'>): AgentFiles {
  return {
    async check(directory, content) {
      const given = await lenientEnvironment(directory, env);
      const { problems, warnings } = await checkAgent(directory, given, content);
      const errors = problems.map(asProblemJson);
      return { valid: errors.length === 0, errors, warnings: warnings.map(asProblemJson) };
    },
    async refusePassphrase(directory, passphrase) {
      try {
        await agentEnvironment(directory, { env, passphrase });
        return null;
      } catch (error) {
        // The agent itself reports any other error at startup.
        const isLocked = error instanceof SecretsError && error.code === 'secrets_locked';
        return isLocked ? error.message : null;
      }
    },
    policy: async (directory) =>
      policyOf(directory, await lenientEnvironment(directory, env), audit),
    async explain(directory, { calls, content }, signal) {
      const given = await lenientEnvironment(directory, env);
      const source = { directory, env: given, ...(content === undefined ? {} : { text: content }) };
      const explained = await explainCalls(calls, source, signal);
      return explained === null ? null : { calls: explained, ...summaryOf(explained) };
    },
  };
}

function asProblemJson({ message, line, column, path, file }: ConfigProblem): ProblemJson {
  if (file === 'service.yaml') return { message, line, column, path };
  return { message: `${file}:${line}:${column}: ${message}`, line: null, column: null, path };
}
