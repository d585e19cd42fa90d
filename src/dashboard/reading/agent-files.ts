import { join } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import type { ConfigProblem } from '../../actors/config/config.ts';
import { ConditionCompiler, conditionWords, typesOf } from '../../actors/governance/governance.ts';
import { largestSettingsFile, readRegularFile } from '../../actors/read-regular-file.ts';
import { SecretsError } from '../../actors/secrets/secrets.ts';
import { silentLog } from '../../actors/silent-log.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { ToolMap } from '../../actors/tool-name.ts';
import { resolveInside } from '../../actors/tools/tools.ts';
import { namedTools } from '../../agent/policy/named-tools.ts';
import { limitNames, unsetVariables } from '../../agent/policy/rule-conditions.ts';
import { agentEnvironment } from '../../agent/start/agent-environment.ts';
import { checkAgent } from '../../agent/start/agent-findings.ts';
import { lenientEnvironment } from '../../agent/start/lenient-environment.ts';
import { readAgent } from '../../agent/start/read-agent.ts';
import type { ConfigCheckJson, ProblemJson } from '../../http/wire/dashboard/config-json.ts';
import type { PolicyPreviewJson } from '../../http/wire/dashboard/explain-json.ts';
import type {
  ConditionCheckJson,
  ConditionWordJson,
  ConditionWordsJson,
  PolicyTestsJson,
} from '../../http/wire/dashboard/policy-edit-json.ts';
import type { RecordedCall } from '../../http/wire/dashboard/recorded-calls.ts';
import { messageOf } from '../../machines/message-of.ts';
import type { AuditReader } from './audit-reader.ts';
import { policyOf } from './policy-of.ts';
import { PolicyTableError, type TestRow, tableIn } from './policy-table.ts';
import { explainCalls, summaryOf } from './preview-policy.ts';
import { testRows } from './test-rows.ts';

const table = 'policy.test.yaml';

/** Maximum number of evaluated rows. */
const mostRows = 1_000;

/**
 * Evaluates an agent's `policy.test.yaml` under the given `service.yaml`, or the one in its folder. `null` if the agent
 * has no such file. Rejects with the reason of the signal.
 */
async function testPolicy(
  { directory, env }: { directory: string; env: NodeJS.ProcessEnv },
  content: string | undefined,
  signal: AbortSignal,
): Promise<PolicyTestsJson | null> {
  const rows = await readRows(directory);
  if (rows === null) return null;
  if (typeof rows === 'string') return { rows: [], problem: rows };
  const clock = systemClock();
  const { agent, problems } = await readAgent(directory, env, clock, () => null, content);
  if (agent === null || problems.length > 0) {
    return { rows: [], problem: 'service.yaml has problems; fix them first' };
  }
  const results = await testRows(agent, rows, { env, clock, log: silentLog, signal });
  return {
    rows: results.map(({ name, place, differences }) => ({ name, place, differences })),
    problem: null,
  };
}

/** Returns the rows of the table, or the reason why it cannot be used; `null` if there is none. */
async function readRows(directory: string): Promise<TestRow[] | string | null> {
  const found = await resolveInside(directory, join(directory, table));
  if (found.kind === 'missing') return null;
  if (found.kind === 'outside') return `${table} lies outside of the agent's folder`;
  try {
    const text = readRegularFile(found.path, largestSettingsFile).toString('utf8');
    const rows = tableIn(text, table);
    if (rows.length <= mostRows) return rows;
    return `${table} has more than ${mostRows.toLocaleString('en')} rows; run ${commandLine('policy test')}`;
  } catch (error) {
    if (error instanceof PolicyTableError) return error.message;
    return `${table} cannot be read: ${messageOf(error)}`;
  }
}

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

/** Lists the names that conditions of an agent can use; `null` if its `service.yaml` is invalid. */
async function wordsOfConditions(
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<ConditionWordsJson | null> {
  const { agent } = await readAgent(directory, env, systemClock());
  if (agent === null) return null;
  const { config, toolbox, seen } = agent;
  const tools = new ToolMap([...toolbox.tools]);
  const args = namedTools(config, toolbox, seen).map((name): [string, ConditionWordJson[]] => [
    name,
    membersOf('args', typesOf(tools.get(name)?.parameters ?? {})),
  ]);
  return {
    words: conditionWords(config.security.policy.environment, Object.keys(config.security.limits)),
    args: Object.fromEntries(args),
  };
}

/**
 * Returns the first fault of a condition on a tool's calls. The schema of an MCP server's tool is not known here, so only
 * the syntax is checked.
 */
async function checkCondition(
  directory: string,
  env: NodeJS.ProcessEnv,
  { tool, when }: { tool: string; when: string },
): Promise<ConditionCheckJson> {
  const { agent } = await readAgent(directory, env, systemClock());
  const tools = new ToolMap([...(agent?.toolbox.tools ?? [])]);
  const compiler = new ConditionCompiler({
    environment: unsetVariables(agent?.config.security.policy.environment ?? []),
    limits: new Map(agent === null ? [] : limitNames(agent.config.security)),
  });
  const compiled = compiler.compile(when, tools.get(tool)?.parameters ?? {});
  return { fault: 'holds' in compiled ? null : { message: compiled.message, at: compiled.at } };
}

function membersOf(path: string, types: ReturnType<typeof typesOf>): ConditionWordJson[] {
  return Object.entries(types).flatMap(([name, type]) => {
    const word = `${path}.${name}`;
    if (typeof type === 'string') return [{ word, type, about: '' }];
    return [{ word, type: 'map', about: '' }, ...membersOf(word, type)];
  });
}
