import { resolve } from 'node:path';
import { closest } from 'fastest-levenshtein';
import { systemClock } from '../../actors/system-clock.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { serverOfTool } from '../../actors/tools/tools.ts';
import { namedTools } from '../../agent/named-tools.ts';
import { readAgent } from '../../agent/read-agent.ts';
import { explainCall } from '../../dashboard/reading/explain-call.ts';
import { openPolicy } from '../../dashboard/reading/open-policy.ts';
import type { JsonValue } from '../../machines/json.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { printWarnings } from '../config-warnings.ts';
import { plainLine } from '../plain-text.ts';
import { warnOfPolicyGap } from '../policy-warning.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { outputRules } from './output-rules.ts';
import { printExplanation } from './print-explanation.ts';

export interface ExplainOptions {
  args: JsonValue;
  acr?: string;
  message?: string;
  cwd?: string;
  client?: string;
  dir: string;
}

/**
 * `policy explain TOOL`: prints the outcome that a call would have now. Runs no tool, issues no credential, asks no
 * approver and writes nothing.
 */
export async function policyExplain(
  session: Session,
  name: string,
  { args, acr, message, cwd, client, dir }: ExplainOptions,
): Promise<void> {
  const { output, interruption } = session;
  const signal = interruption.listen();
  const env = await environmentOf(session, resolve(dir));
  const clock = systemClock();
  const { problems, warnings, agent } = await readAgent(resolve(dir), env, clock);
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
  // The error of a failing layer is only logged here; the reason for the caller gives no details.
  const log = createLog({ level: output.isDebug ? 'debug' : 'warn', stream: output.stderr });
  const policy = openPolicy(agent, [name], { env, clock, log });
  const origin = {
    ...(cwd === undefined ? {} : { cwd }),
    ...(client === undefined ? {} : { client }),
  };
  const explanation = await explainCall(
    { tool: name, args, acr: acr ?? null, message: message ?? null, origin },
    { ...policy, outputRules: outputRules(agent, name), clock, log, signal },
  );
  printExplanation(output, { ...explanation, ...gap }, args);
}

function unseen(name: string, server: string): string {
  return `the MCP server ${server} is not asked here, so neither its description of ${name} nor the arguments are checked`;
}

function unknownTool(name: string, tools: string[]): CliError {
  return new CliError(plainLine(`the agent has no tool ${name}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: tools.length === 0 ? 'it has none at all' : `the nearest is ${closest(name, tools)}`,
  });
}
