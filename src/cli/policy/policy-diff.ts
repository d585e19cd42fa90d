import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ServiceConfig } from '../../actors/config/config.ts';
import { compileGuardrails, compileModify } from '../../actors/governance/governance.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { readGuardrails } from '../../agent/agent-guardrails.ts';
import { keptPolicy } from '../../agent/kept-policies.ts';
import { diffPolicies, type PolicyChange } from '../../agent/policy-diff.ts';
import { type AgentReading, readAgent } from '../../agent/read-agent.ts';
import { auditReader } from '../../dashboard/reading/audit-reader.ts';
import { explainWith } from '../../dashboard/reading/preview-policy.ts';
import { lastCalls } from '../../dashboard/reading/recorded-calls-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import type { Output } from '../output.ts';
import { plainLine } from '../plain-text.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { usualTimeout, withAgent } from '../task/agent-session.ts';
import { mostCalls, sourceOf } from './explain-task.ts';

export interface PolicyDiffOptions {
  dir: string;
  /** Also compares the outcome of the last calls of the running agent. */
  log?: boolean;
}

type Agent = NonNullable<AgentReading['agent']>;

/** A call whose outcome differs between the two policies. */
interface DifferingCall {
  task: string;
  tool: string;
  before: string;
  after: string;
  /** False if not every layer could be evaluated, such as for arguments that were not kept. */
  complete: boolean;
}

/** `policy diff A B`: lists what changes between two policies. Exits with 5 if a rule is looser. */
export async function policyDiff(
  session: Session,
  [one, other]: readonly [string, string],
  { dir, log = false }: PolicyDiffOptions,
): Promise<void> {
  const { output } = session;
  const directory = resolve(dir);
  const env = await environmentOf(session, directory);
  const before = await agentOf(one, { directory, env });
  const after = await agentOf(other, { directory, env });
  const rules = diffPolicies(before.config, after.config);
  const [from, to] = [before.policySha256, after.policySha256];
  const compared = log
    ? await differingCalls(session, { before, after, directory, env })
    : undefined;
  const summary = {
    ...{ before_sha256: from, after_sha256: to, rules: rules.map((rule) => ({ ...rule })) },
    ...(compared === undefined ? {} : { calls: compared.map((call) => ({ ...call })) }),
  };
  print(output, rules, compared);
  const looser = rules.filter(({ effect }) => effect === 'looser');
  if (looser.length === 0) return output.json(summary);
  throw new CliError(plainLine(`${looser.length} of ${rules.length} changes are looser`), {
    code: 'policy_looser',
    exitCode: exitCodes.invalid,
    details: summary,
  });
}

interface Place {
  directory: string;
  env: NodeJS.ProcessEnv;
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
  const { security, included = [] } = JSON.parse(kept.text) as {
    security: ServiceConfig['security'];
    included?: { file: string; security: ServiceConfig['security'] }[];
  };
  const guardrails = security.guardrails.enabled ? compileGuardrails(security.guardrails) : null;
  const modify = security.modify.enabled ? compileModify(security.modify) : null;
  const own = guardrails?.ok === true ? guardrails.guardrails : null;
  return {
    ...agent,
    config: {
      ...agent.config,
      security,
      included: included.map((one) => ({ ...one, path: null })),
    },
    policySha256: kept.sha256,
    guardrails: readGuardrails(security.guardrails, own, agent.toolbox.skills).guardrails,
    modify: modify?.ok === true ? modify.modify : null,
  };
}

/** Evaluates the last calls of the running agent under both policies. */
async function differingCalls(
  session: Session,
  { before, after, directory, env }: Place & { before: Agent; after: Agent },
): Promise<DifferingCall[]> {
  return withAgent(session, { dir: directory }, usualTimeout, async ({ agent, signal }) => {
    const source = sourceOf(agent, directory);
    const asked = { most: mostCalls, signal };
    const { calls, unread } = await lastCalls(source, auditReader(session.env), asked);
    if (unread !== null) session.output.note(unread);
    const earlier = await explainWith(before, calls, env, signal);
    const later = await explainWith(after, calls, env, signal);
    return calls.flatMap(({ task, tool }, index): DifferingCall[] => {
      const [one, other] = [earlier[index]?.now, later[index]?.now];
      if (one === undefined || other === undefined || one.outcome === other.outcome) return [];
      const complete = one.complete && other.complete;
      return [{ task, tool, before: one.outcome, after: other.outcome, complete }];
    });
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
  calls?: readonly DifferingCall[],
): void {
  for (const { name, change, effect } of rules) {
    output.line(plainLine(`${signs[change]} ${effect.padEnd(7)}  ${name}`));
  }
  if (rules.length === 0) output.line('the rules are equal');
  for (const { task, tool, before, after, complete } of calls ?? []) {
    const partly = complete ? '' : ', not everything evaluated';
    output.line(plainLine(`  ${task}  ${tool}  ${before} → ${after}${partly}`));
  }
  if (calls !== undefined) output.line(`${calls.length} of the last calls have another outcome`);
}
