import { resolve } from 'node:path';
import { closest } from 'fastest-levenshtein';
import { systemClock } from '../../actors/clock.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { createGovernance } from '../../agent/agent-governance.ts';
import { readAgent } from '../../agent/read-agent.ts';
import type { JsonValue } from '../../machines/json.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { printWarnings } from '../config-warnings.ts';
import { plainLine } from '../plain-text.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { explainCall } from './explain-call.ts';
import { outputRules } from './output-rules.ts';
import { printExplanation } from './print-explanation.ts';

export interface ExplainOptions {
  args: JsonValue;
  acr?: string;
  message?: string;
  dir: string;
}

/** `policy explain TOOL`: the outcome of a call now; nothing is run, made, asked or written. */
export async function policyExplain(
  session: Session,
  name: string,
  { args, acr, message, dir }: ExplainOptions,
): Promise<void> {
  const { output, interruption } = session;
  const signal = interruption.listen();
  const env = await environmentOf(session, resolve(dir));
  const clock = systemClock();
  const { problems, warnings, agent } = await readAgent(resolve(dir), env, clock);
  printWarnings(output, warnings);
  if (agent === null || problems.length > 0) throw configFailure(problems, warnings);
  const { config, toolbox, guardrails, modify } = agent;
  const { tools } = toolbox;
  if (!tools.has(name)) throw unknownTool(name, [...tools.keys()]);
  // What breaks in a layer is told here alone; the reason for the caller does not say more.
  const log = createLog({ level: output.isDebug ? 'debug' : 'warn', stream: output.stderr });
  const isAuthOn = config.auth.providers.length > 0;
  const governance = createGovernance({
    config,
    isAuthOn,
    tools,
    guardrails,
    modify,
    env,
    clock,
    log,
  });
  const explanation = await explainCall(
    { tool: name, args, acr: acr ?? null, message: message ?? null },
    { ...governance, tools, outputRules: outputRules(agent, name), clock, log, signal },
  );
  printExplanation(output, explanation, args);
}

function unknownTool(name: string, tools: string[]): CliError {
  return new CliError(plainLine(`the agent has no tool ${name}`), {
    code: 'not_found',
    exitCode: exitCodes.notFound,
    hint: tools.length === 0 ? 'it has none at all' : `the nearest is ${closest(name, tools)}`,
  });
}
