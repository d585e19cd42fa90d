import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { compileGuardrails, compileModify } from '../../actors/governance/governance.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { matchesName } from '../../actors/tool-name.ts';
import { readGuardrails } from '../../agent/policy/agent-guardrails.ts';
import { keptPolicy } from '../../agent/policy/kept-policies.ts';
import { diffPolicies, type PolicyChange } from '../../agent/policy/policy-diff.ts';
import { isAssumed, lenientEnvironment } from '../../agent/start/lenient-environment.ts';
import { type AgentReading, readAgent } from '../../agent/start/read-agent.ts';
import { auditReader } from '../../dashboard/reading/audit-reader.ts';
import { explainWith, strengthOf } from '../../dashboard/reading/preview-policy.ts';
import { lastCalls } from '../../dashboard/reading/recorded-calls-of.ts';
import { testRows } from '../../dashboard/reading/test-rows.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import type { Output } from '../output.ts';
import { plainLine } from '../plain-text.ts';
import { environmentOf, givenPassphrase } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { usualTimeout, withAgent } from '../task/agent-session.ts';
import { mostCalls, sourceOf } from './explain-task.ts';
import { readTable } from './policy-test.ts';

export interface PolicyDiffOptions {
  dir: string;
  /** Also compares the outcome of the last calls of the running agent. */
  log?: boolean;
  /** Also compares the outcome of the rows of a table of policy tests. */
  table?: string;
}

type Agent = NonNullable<AgentReading['agent']>;

/** A call, or a row of a table, with its outcome under each of the two policies. */
interface ComparedCall {
  /** The task of the call, or the place of the row. */
  from: string;
  tool: string;
  before: string;
  after: string;
  /** False if not every layer could be evaluated, such as for arguments that were not kept. */
  complete: boolean;
}

/**
 * `policy diff A B`: lists what changes between two policies. Exits with 5 if a rule is looser, or may be looser and no
 * evaluated call shows otherwise.
 */
export async function policyDiff(
  session: Session,
  [one, other]: readonly [string, string],
  { dir, log = false, table }: PolicyDiffOptions,
): Promise<void> {
  const { output } = session;
  const directory = resolve(dir);
  const isEvaluated = log || table !== undefined;
  const { before, after, env } = await agentsOf(session, { one, other, directory, isEvaluated });
  const rules = diffPolicies(before.config, after.config);
  const [from, to] = [before.policySha256, after.policySha256];
  const rows =
    table === undefined ? [] : await comparedRows(session, { before, after, env }, table);
  const calls = log ? await comparedCalls(session, { before, after, directory, env }) : undefined;
  const evaluated = [...rows, ...(calls ?? [])];
  const summary = {
    ...{ before_sha256: from, after_sha256: to, rules: rules.map((rule) => ({ ...rule })) },
    ...(table === undefined ? {} : { rows: rows.filter(isOther).map((row) => ({ ...row })) }),
    ...(calls === undefined ? {} : { calls: calls.filter(isOther).map((call) => ({ ...call })) }),
  };
  print(output, rules, { rows: table === undefined ? undefined : rows, calls });
  const looser = rules.filter((rule) => isLooser(rule, evaluated));
  const weaker = evaluated.filter(isWeaker);
  if (looser.length + weaker.length === 0) return output.json(summary);
  const sure = looser.filter(({ effect }) => effect === 'looser').length;
  const reasons = [
    ...(sure === 0 ? [] : [`${sure} of ${rules.length} changes are looser`]),
    ...(looser.length === sure
      ? []
      : [`${looser.length - sure} of ${rules.length} changes may be looser`]),
    ...(weaker.length === 0 ? [] : [`${weaker.length} evaluated calls are less restricted`]),
  ];
  throw new CliError(plainLine(reasons.join(', ')), {
    code: 'policy_looser',
    exitCode: exitCodes.invalid,
    ...(looser.length > sure && evaluated.length === 0
      ? { hint: 'evaluate changed conditions with --table FILE or --log' }
      : {}),
    details: summary,
  });
}

/** A changed condition is no looser if calls of its tool were evaluated, and none of them is less restricted. */
function isLooser(
  { effect, tool, isConditionOnly }: PolicyChange,
  evaluated: readonly ComparedCall[],
): boolean {
  if (effect !== 'may be looser' || isConditionOnly !== true) return effect !== 'tighter';
  const ofTool = evaluated.filter((call) => tool !== undefined && matchesName(tool, call.tool));
  return !ofTool.some(({ complete }) => complete) || ofTool.some(isWeaker);
}

function isWeaker({ before, after }: ComparedCall): boolean {
  return strengthOf(after) < strengthOf(before);
}

function isOther({ before, after }: ComparedCall): boolean {
  return before !== after;
}

interface Place {
  directory: string;
  env: NodeJS.ProcessEnv;
}

/** Reads two policies. The secrets are needed to evaluate calls, and for a policy that uses one of them. */
async function agentsOf(
  session: Session,
  {
    one,
    other,
    directory,
    isEvaluated,
  }: { one: string; other: string; directory: string; isEvaluated: boolean },
): Promise<{ before: Agent; after: Agent; env: NodeJS.ProcessEnv }> {
  const read = async (env: NodeJS.ProcessEnv) => ({
    before: await agentOf(one, { directory, env }),
    after: await agentOf(other, { directory, env }),
    env,
  });
  if (!isEvaluated && (await givenPassphrase(session)) === null) {
    const agents = await read(await lenientEnvironment(directory, session.env));
    const rules = [agents.before, agents.after].map(({ config }) => [
      config.security,
      config.included,
    ]);
    if (!isAssumed(rules)) return agents;
  }
  return read(await environmentOf(session, directory));
}

/** Reads a policy: a folder, a `service.yaml`, or the digest of a kept policy. */
async function agentOf(name: string, { directory, env }: Place): Promise<Agent> {
  const found = await stat(name).catch(() => null);
  if (found === null) return keptAgent(name, { directory, env });
  return found.isDirectory()
    ? readUsable(resolve(name), env)
    : readUsable(directory, env, await readFile(name, 'utf8'));
}

async function readUsable(
  directory: string,
  env: NodeJS.ProcessEnv,
  text?: string,
): Promise<Agent> {
  const reading = await readAgent(directory, env, systemClock(), () => null, text);
  const { agent, problems, warnings } = reading;
  if (agent === null || problems.length > 0) throw configFailure(problems, warnings);
  return agent;
}

async function keptAgent(name: string, { directory, env }: Place): Promise<Agent> {
  const kept = /^[0-9a-f]{8,64}$/.test(name) ? keptPolicy(directory, name) : null;
  if (kept === null) {
    throw new CliError(plainLine(`there is no file, folder or kept policy ${name}`), {
      code: 'not_found',
      exitCode: exitCodes.notFound,
      hint: 'name a service.yaml, a folder, or a policy_sha256 of the audit log with at least 8 digits',
    });
  }
  const agent = await readUsable(directory, env);
  const {
    security: written,
    included = [],
    gate,
  } = JSON.parse(kept.text) as Pick<ServiceConfig, 'security' | 'gate'> & {
    included?: { file: string; security: ServiceConfig['security'] }[];
  };
  const security = withBounds(written);
  const { gate: _, ...config } = agent.config;
  const guardrails = security.guardrails.enabled ? compileGuardrails(security.guardrails) : null;
  const modify = security.modify.enabled ? compileModify(security.modify) : null;
  const own = guardrails?.ok === true ? guardrails.guardrails : null;
  return {
    ...agent,
    config: {
      ...config,
      ...(gate === undefined ? {} : { gate }),
      security,
      included: included.map(({ file, security: rules }) => ({
        ...{ file, security: withBounds(rules), path: null },
      })),
    },
    policySha256: kept.sha256,
    guardrails: readGuardrails(security.guardrails, own, agent.toolbox.skills).guardrails,
    modify: modify?.ok === true ? modify.modify : null,
  };
}

/** A stored policy without limits and effects has no keys for them. */
function withBounds(security: ServiceConfig['security']): ServiceConfig['security'] {
  return { ...{ limits: {}, effects: {} }, ...security };
}

/** Evaluates the last calls of the running agent under both policies. */
async function comparedCalls(
  session: Session,
  { before, after, directory, env }: Place & { before: Agent; after: Agent },
): Promise<ComparedCall[]> {
  return withAgent(session, { dir: directory }, usualTimeout, async ({ agent, signal }) => {
    const source = sourceOf(agent, directory);
    const asked = { most: mostCalls, signal };
    const { calls, unread } = await lastCalls(source, auditReader(session.env), asked);
    if (unread !== null) session.output.note(unread);
    const earlier = await explainWith(before, calls, env, signal);
    const later = await explainWith(after, calls, env, signal);
    return calls.flatMap(({ task: from, tool }, index): ComparedCall[] => {
      const [one, other] = [earlier[index]?.now, later[index]?.now];
      if (one === undefined || other === undefined) return [];
      const complete = one.complete && other.complete;
      return [{ from, tool, before: one.outcome, after: other.outcome, complete }];
    });
  });
}

/** Evaluates the rows of a table under both policies. */
async function comparedRows(
  { output, interruption }: Session,
  { before, after, env }: { before: Agent; after: Agent; env: NodeJS.ProcessEnv },
  file: string,
): Promise<ComparedCall[]> {
  const rows = await readTable(file);
  const log = createLog({ level: 'warn', stream: output.stderr });
  const parts = { env, clock: systemClock(), log, signal: interruption.listen() };
  const earlier = await testRows(before, rows, parts);
  const later = await testRows(after, rows, parts);
  return rows.flatMap(({ place: from, tool }, index): ComparedCall[] => {
    const [one, other] = [earlier[index]?.outcome, later[index]?.outcome];
    if (one === undefined || other === undefined) return [];
    return [{ from, tool, before: one, after: other, complete: true }];
  });
}

const signs: Readonly<Record<PolicyChange['change'], string>> = {
  added: '+',
  removed: '-',
  changed: '~',
};

function print(
  output: Output,
  rules: readonly PolicyChange[],
  { rows, calls }: Partial<Record<'rows' | 'calls', readonly ComparedCall[] | undefined>>,
): void {
  for (const { name, change, effect, before, after } of rules) {
    output.line(plainLine(`${signs[change]} ${effect.padEnd(7)}  ${name}`));
    const [old, now] = [conditionOf(before), conditionOf(after)];
    if (change !== 'changed' || old === now) continue;
    output.line(plainLine(`    before  ${old}`));
    output.line(plainLine(`    after   ${now}`));
  }
  if (rules.length === 0) output.line('the rules are equal');
  for (const { from, tool, before, after, complete } of [...(rows ?? []), ...(calls ?? [])].filter(
    isOther,
  )) {
    const partly = complete ? '' : ', not everything evaluated';
    output.line(plainLine(`  ${from}  ${tool}  ${before} → ${after}${partly}`));
  }
  const count = (list: readonly ComparedCall[]) => list.filter(isOther).length;
  if (rows !== undefined) output.line(`${count(rows)} of ${rows.length} rows have another outcome`);
  if (calls !== undefined) output.line(`${count(calls)} of the last calls have another outcome`);
}

function conditionOf(rule: JsonValue | undefined): string {
  const when = isJsonObject(rule ?? null) ? (rule as JsonObject)['when'] : undefined;
  return typeof when === 'string' ? `if ${when}` : 'always';
}
