import type { ConfigProblem } from '../../actors/config/config.ts';
import { SecretsError } from '../../actors/secrets/secrets.ts';
import { agentEnvironment } from '../../agent/agent-environment.ts';
import { checkAgent } from '../../agent/agent-findings.ts';
import { lenientEnvironment } from '../../agent/lenient-environment.ts';
import type { ConfigCheckJson, ProblemJson } from '../../http/wire/dashboard/config-json.ts';
import type { PolicyPreviewJson } from '../../http/wire/dashboard/explain-json.ts';
import type { RecordedCall } from '../../http/wire/dashboard/recorded-calls.ts';
import type { AuditReader } from './audit-reader.ts';
import { checkCondition, wordsOfConditions } from './check-condition.ts';
import { policyOf } from './policy-of.ts';
import { explainCalls, summaryOf } from './preview-policy.ts';
import { testPolicy } from './test-policy.ts';

/** Reads agents' files for the dashboard. */
export type AgentFiles = ReturnType<typeof agentFiles>;

/** Creates the reader of agents' files; `audit` reads their logs. Every method receives the folder's absolute path. */
export function agentFiles(env: NodeJS.ProcessEnv, audit: Pick<AuditReader, 'page'>) {
  return {
    /** Validates the text of a `service.yaml` as if it were in the folder. */
    async check(directory: string, content: string): Promise<ConfigCheckJson> {
      const given = await lenientEnvironment(directory, env);
      const { problems, warnings } = await checkAgent(directory, given, content);
      const errors = problems.map(asProblemJson);
      return { valid: errors.length === 0, errors, warnings: warnings.map(asProblemJson) };
    },
    /** Returns why a passphrase does not decrypt the agent's secrets; `null` if it does or there are none. */
    async refusePassphrase(directory: string, passphrase: string): Promise<string | null> {
      try {
        await agentEnvironment(directory, { env, passphrase });
        return null;
      } catch (error) {
        // The agent itself reports any other error at startup.
        const isLocked = error instanceof SecretsError && error.code === 'secrets_locked';
        return isLocked ? error.message : null;
      }
    },
    /** `null` if `service.yaml` is invalid. */
    policy: async (directory: string) =>
      policyOf(directory, await lenientEnvironment(directory, env), audit),
    /**
     * Computes the outcome that recorded calls would have now, or under the given `service.yaml`. Runs no tool. `null`
     * if the configuration is invalid. Rejects with the reason of the signal when aborted.
     */
    async explain(
      directory: string,
      { calls, content }: { calls: readonly RecordedCall[]; content?: string },
      signal: AbortSignal,
    ): Promise<Omit<PolicyPreviewJson, 'unread'> | null> {
      const given = await lenientEnvironment(directory, env);
      const source = { directory, env: given, ...(content === undefined ? {} : { text: content }) };
      const explained = await explainCalls(calls, source, signal);
      return explained === null ? null : { calls: explained, ...summaryOf(explained) };
    },
    /**
     * Evaluates the rows of an agent's `policy.test.yaml` under the given `service.yaml`, or the one in the folder. Runs
     * no tool. `null` if there is no such file. Rejects with the reason of the signal when aborted.
     */
    test: async (directory: string, content: string | undefined, signal: AbortSignal) =>
      testPolicy({ directory, env: await lenientEnvironment(directory, env) }, content, signal),
    /** Lists the names that conditions can use; `null` if `service.yaml` is invalid. */
    conditionWords: async (directory: string) =>
      wordsOfConditions(directory, await lenientEnvironment(directory, env)),
    /** Returns the first fault of a condition on a tool's calls. */
    checkCondition: async (directory: string, condition: { tool: string; when: string }) =>
      checkCondition(directory, await lenientEnvironment(directory, env), condition),
  };
}

function asProblemJson({ message, line, column, path, file }: ConfigProblem): ProblemJson {
  if (file === 'service.yaml') return { message, line, column, path };
  return { message: `${file}:${line}:${column}: ${message}`, line: null, column: null, path };
}
