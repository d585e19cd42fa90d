import { resolve } from 'node:path';
import { closest } from 'fastest-levenshtein';
import { systemClock } from '../../actors/system-clock.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { ToolMap } from '../../actors/tool-name.ts';
import { serverOfTool } from '../../actors/tools/tools.ts';
import { namedTools } from '../../agent/policy/named-tools.ts';
import { limitNamesOf } from '../../agent/policy/ruled-tools.ts';
import { type AgentReading, readAgent } from '../../agent/start/read-agent.ts';
import { explainCall } from '../../dashboard/reading/explain-call.ts';
import type {
  ExplainedDeferral,
  ExplainedLimit,
  Explanation,
} from '../../dashboard/reading/explanation.ts';
import { openPolicy } from '../../dashboard/reading/open-policy.ts';
import {
  callerOf,
  PolicyTableError,
  ranBefore,
  readCircumstances,
} from '../../dashboard/reading/policy-table.ts';
import { optionTerms, optionWords } from '../../machines/domain/rule-options.ts';
import type { Caller, RanCall } from '../../machines/domain/task.ts';
import { limitName } from '../../machines/governance/limit-words.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../machines/json.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { printWarnings } from '../config-warnings.ts';
import type { Output } from '../output.ts';
import { plainLine } from '../plain-text.ts';
import { warnOfPolicyGap } from '../policy-warning.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { decisionLines } from '../task/print-task.ts';

/** Prints the outcome of a hypothetical call with the given arguments. */
function printExplanation(output: Output, explanation: Explanation, asked: JsonValue): void {
  const { colours } = output;
  output.json(explanation);
  for (const line of decisionLines(output, explanation.layers)) output.line(line);
  output.line();
  output.line(colours.bold(plainLine(outcomeLine(explanation))));
  for (const demand of optionWords(optionTerms(explanation.deferral ?? {}))) {
    output.line(`  ${demand}`);
  }
  for (const { rule, would } of explanation.shadow ?? []) {
    output.line(plainLine(`  in shadow, ${rule} would have decided: ${would}`));
  }
  for (const reason of incomplete(explanation)) {
    output.line(colours.yellow(plainLine(`this is incomplete: ${reason}`)));
  }
  for (const [label, value] of labelsOf(explanation, asked)) {
    output.line(`  ${label.padEnd('args_sha256'.length)}  ${plainLine(value)}`);
  }
}

function incomplete({ layers, limits = [] }: Explanation): string[] {
  const isIntentUnknown = layers.some(
    ({ layer, decision }) => layer === 'intent_alignment' && decision === 'not_asked',
  );
  return [
    ...(isIntentUnknown
      ? ['intent alignment was not evaluated and may deny the call earlier; add --message']
      : []),
    ...limits.flatMap(({ name, used }) =>
      used === null ? [`nothing counts as used of ${name}; add --used ${name}=AMOUNT`] : [],
    ),
  ];
}

function outcomeLine({ outcome, text = '', deferral }: Explanation): string {
  if (outcome === 'deny') return `would be denied: ${text}`;
  if (outcome === 'step_up') return `would be challenged: ${text}`;
  return deferral === undefined ? 'would run' : `would wait for ${waitOf(deferral)}, then run`;
}

function waitOf(deferral: ExplainedDeferral): string {
  const { to, timeout, approvers, quorum, remind, escalate_to, escalations } = deferral;
  const who =
    approvers === null ? 'anyone in the channel' : `approvers ${approvers.join(', ') || 'nobody'}`;
  return [
    to,
    timeout,
    `${who} (quorum ${quorum})`,
    ...(remind ? ['reminded at half of the time'] : []),
    ...(escalations ?? []).map((stage) => `${stage.to} as well after ${stage.after}`),
    ...(escalate_to === null || escalations !== undefined
      ? []
      : [`${escalate_to} as well at three quarters`]),
  ].join(', ');
}

function labelsOf(
  { arguments: args, args_sha256, deferral, layers, limits = [], effect }: Explanation,
  asked: JsonValue,
): [label: string, value: string][] {
  const isModified = layers.some(({ decision }) => decision === 'modify');
  const labels: [label: string, value: string][] = isModified
    ? [['before', JSON.stringify(asked)]]
    : [];
  labels.push([isModified ? 'after' : 'arguments', JSON.stringify(args)]);
  if (deferral !== undefined) labels.push(['context', deferral.context]);
  for (const limit of limits) labels.push(['limit', limitLine(limit)]);
  if (effect !== undefined) labels.push(['effect', effect]);
  labels.push(['args_sha256', args_sha256]);
  return labels;
}

function limitLine({ name, by, used, max, amount, over }: ExplainedLimit): string {
  const added = amount === null ? 'the call cannot be measured' : `the call adds ${amount}`;
  return `${limitName({ name, by })}: ${used ?? 0} of ${max} used, ${added}${over ? ', over the limit' : ''}`;
}

export interface ExplainOptions {
  args: JsonValue;
  /** Epoch milliseconds. */
  at?: number;
  /** An email, or the `caller` of a row of policy tests as JSON. */
  caller?: string;
  /** The `history` of such a row. */
  history?: JsonValue;
  acr?: string;
  message?: string;
  cwd?: string;
  client?: string;
  /** Used amounts of limits, by name. */
  used: Readonly<Record<string, string>>;
  dir: string;
}

/**
 * `policy explain TOOL`: prints the outcome that a call would have now. Runs no tool, issues no credential, asks no
 * approver and writes nothing.
 */
export async function policyExplain(
  session: Session,
  name: string,
  { args, acr, message, cwd, client, used, dir, ...given }: ExplainOptions,
): Promise<void> {
  const { output, interruption } = session;
  const signal = interruption.listen();
  const { requester, ran } = circumstancesOf(given, acr);
  const env = await environmentOf(session, resolve(dir));
  const clock = systemClock();
  const { problems, agent, ...found } = await readAgent(resolve(dir), env, clock);
  // What the log stores decides on no call.
  const warnings = found.warnings.filter(({ path }) => !path.startsWith('audit.'));
  if (agent === null || problems.length > 0) {
    printWarnings(output, warnings);
    throw configFailure(problems, warnings);
  }
  const { config, toolbox } = agent;
  const gap = warnOfPolicyGap(output, resolve(dir), agent.policySha256);
  printWarnings(output, warnings);
  const server = toolbox.tools.has(name) ? undefined : serverOfTool(name, config.mcp.servers);
  // The tools of a gate include every name that a pattern of it matches.
  if (toolbox.tools.get(name) === undefined && server === undefined) {
    throw unknownTool(name, namedTools(config, toolbox, agent.seen));
  }
  if (server !== undefined) output.warn(plainLine(unseen(name, server)));
  const limits = limitNamesOf(config);
  const unknown = Object.keys(used).find((limit) => !limits.includes(limit));
  if (unknown !== undefined) throw unknownLimit(unknown, limits);
  // The error of a failing layer is only logged here; the reason for the caller gives no details.
  const log = createLog({ level: output.isDebug ? 'debug' : 'warn', stream: output.stderr });
  const policy = openPolicy(agent, [name], { env, clock, log });
  const origin = {
    ...(cwd === undefined ? {} : { cwd }),
    ...(client === undefined ? {} : { client }),
  };
  const explanation = await explainCall(
    {
      ...{ tool: name, args, acr: acr ?? null, message: message ?? null, origin, used, ran },
      ...(requester === null ? {} : { requester }),
      at: given.at,
    },
    { ...policy, outputRules: outputRules(agent, name), clock, log, signal },
  );
  printExplanation(output, { ...explanation, ...gap }, args);
}

/** Reads who calls and what ran before. Throws CliError. */
function circumstancesOf(
  { caller, history }: Pick<ExplainOptions, 'caller' | 'history'>,
  acr: string | undefined,
): { requester: Caller | null; ran: RanCall[] } {
  const isEmail = caller !== undefined && !caller.trimStart().startsWith('{');
  const written = isEmail ? { user_id: caller, email: caller } : parseJson(caller ?? 'null');
  try {
    const read = readCircumstances({
      ...(caller === undefined ? {} : { caller: written }),
      ...(history === undefined ? {} : { history }),
    });
    const requester = callerOf(read);
    return {
      requester: requester && acr !== undefined ? { ...requester, acr } : requester,
      ran: ranBefore(read),
    };
  } catch (error) {
    if (!(error instanceof PolicyTableError)) throw error;
    throw new CliError(plainLine(`--${error.message}`), {
      ...{ code: 'usage', exitCode: exitCodes.usage },
      hint: 'write them as in a row of policy.test.yaml',
    });
  }
}

function unseen(name: string, server: string): string {
  return `the MCP server ${server} is not asked here, so neither its description of ${name} nor the arguments are checked`;
}

function unknownLimit(name: string, limits: string[]): CliError {
  return new CliError(plainLine(`the agent has no limit ${name}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: limits.length === 0 ? 'it has none at all' : `the nearest is ${closest(name, limits)}`,
  });
}

function unknownTool(name: string, tools: string[]): CliError {
  return new CliError(plainLine(`the agent has no tool ${name}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: tools.length === 0 ? 'it has none at all' : `the nearest is ${closest(name, tools)}`,
  });
}

/** Lists the rules that check a tool's output, in order; empty if there are none (docs/contract/governance.md). */
function outputRules(
  { config, toolbox }: Pick<NonNullable<AgentReading['agent']>, 'config' | 'toolbox'>,
  tool: string,
): string[] {
  const { guardrails, modify } = config.security;
  const { deny_output: denied, redact } = guardrails;
  const skills = toolbox.skills.filter(({ guardrails: written }) => hasRules(written?.value));
  const written = new ToolMap(Object.entries(modify.enabled ? modify.tools : {}));
  const rewrites = written
    .all(tool)
    .flatMap(
      (entries) => entries.find(({ when, shadow }) => when === undefined && !shadow)?.output ?? [],
    );
  return [
    ...(guardrails.enabled && denied.length + redact.length > 0 ? ['guardrails'] : []),
    ...skills.map(({ id }) => `guardrails of skill ${id}`),
    ...(rewrites.length > 0 ? ['modify'] : []),
  ];
}

/** Returns true if a skill's validated rules cover output. */
function hasRules(guardrails: JsonValue | undefined): boolean {
  if (guardrails === undefined || !isJsonObject(guardrails)) return false;
  const { deny_output: denied, redact } = guardrails;
  return [denied, redact].some((rules) => Array.isArray(rules) && rules.length > 0);
}
