import { join, resolve } from 'node:path';
import { placedDenials, placedRules, type ServiceConfig } from '../../actors/config/config.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { createLog } from '../../actors/telemetry/telemetry.ts';
import { readAgent } from '../../agent/read-agent.ts';
import { explainCall } from '../../dashboard/reading/explain-call.ts';
import type { Explanation } from '../../dashboard/reading/explanation.ts';
import { openPolicy } from '../../dashboard/reading/open-policy.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { configFailure } from '../config-failure.ts';
import { plainLine } from '../plain-text.ts';
import { environmentOf } from '../secret-access.ts';
import type { Session } from '../session.ts';
import { callerOf, ranBefore, readTable, type TestRow } from './policy-table.ts';

export interface PolicyTestOptions {
  coverage?: boolean;
  dir: string;
}

/** What a row led to, in the words of its `expect`. */
type Outcome = TestRow['expect'];

interface RowResult {
  name: string;
  place: string;
  /** One line per difference; empty for a row that passes. */
  differences: string[];
  /** Rules that decided in this row. */
  rules: string[];
}

/**
 * `policy test`: evaluates each row of the tables and compares the decision, the rule, the targets and the quorum. Runs
 * no tool and asks no one. Intent alignment is left out, since it would call an embedder. Throws CliError with exit code
 * 5 when a row differs.
 */
export async function policyTest(
  session: Session,
  files: readonly string[],
  { coverage = false, dir }: PolicyTestOptions,
): Promise<void> {
  const { output, interruption } = session;
  const directory = resolve(dir);
  const signal = interruption.listen();
  const env = await environmentOf(session, directory);
  const clock = systemClock();
  const { problems, warnings, agent } = await readAgent(directory, env, clock);
  if (agent === null || problems.length > 0) throw configFailure(problems, warnings);
  const tables = files.length === 0 ? [join(directory, 'policy.test.yaml')] : files;
  const rows = (await Promise.all(tables.map((file) => readTable(file)))).flat();
  const log = createLog({ level: 'warn', stream: output.stderr });
  const names = rows.map(({ tool }) => tool);
  const policy = openPolicy(agent, names, { env, clock, log });
  const results: RowResult[] = [];
  for (const row of rows) {
    const requester = callerOf(row);
    const explanation = await explainCall(
      {
        ...{ tool: row.tool, args: row.args, acr: null, message: null },
        ...(requester === null ? {} : { requester }),
        ran: ranBefore(row),
      },
      { ...policy, scorer: null, outputRules: [], clock, log, signal },
    );
    results.push(resultOf(row, explanation));
  }
  const reached = new Set(results.flatMap(({ rules }) => rules));
  const unreached = ruleNames(agent.config.security).filter((name) => !reached.has(name));
  const failed = results.filter(({ differences }) => differences.length > 0);
  const summary = {
    rows: results.map(({ rules: _, ...result }) => result),
    passed: results.length - failed.length,
    failed: failed.length,
    ...(coverage ? { unreached } : {}),
  };
  // With --json an error is the only document.
  if (failed.length === 0) output.json(summary);
  for (const { name, place, differences } of failed) {
    output.line(plainLine(`✗ ${name} (${place})`));
    for (const difference of differences) output.line(plainLine(`    ${difference}`));
  }
  if (coverage) {
    for (const name of unreached) output.line(plainLine(`no row reaches ${name}`));
  }
  output.line(`${results.length - failed.length} passed, ${failed.length} failed`);
  if (failed.length > 0) {
    throw new CliError(`${failed.length} of ${results.length} rows differ`, {
      code: 'policy_differs',
      exitCode: exitCodes.invalid,
      details: summary,
    });
  }
}

function resultOf(row: TestRow, explanation: Explanation): RowResult {
  const rules = explanation.layers.flatMap(({ rule }) => (rule === undefined ? [] : [rule]));
  const found = outcomeOf(explanation);
  const { name, place, expect } = row;
  const differences = (['decision', 'rule', 'to', 'quorum'] as const).flatMap((key) => {
    const wanted = expect[key];
    const got = found[key];
    if (wanted === undefined || textOf(wanted) === textOf(got)) return [];
    const reason = key === 'decision' && explanation.text ? `: ${explanation.text}` : '';
    return [`${key}: expected ${textOf(wanted)}, got ${textOf(got)}${reason}`];
  });
  return { name, place, differences, rules };
}

function outcomeOf({ outcome, layers, deferral }: Explanation): Outcome {
  const isModified = layers.some(({ decision }) => decision === 'modify');
  const allowed = isModified ? 'modify' : 'allow';
  const decision = outcome === 'run' ? allowed : outcome;
  const rule = layers.findLast((layer) => layer.rule !== undefined)?.rule;
  return {
    decision,
    ...(rule === undefined ? {} : { rule }),
    ...(deferral === undefined ? {} : { to: deferral.to, quorum: deferral.quorum }),
  };
}

function textOf(value: string | number | string[] | undefined): string {
  if (value === undefined) return 'none';
  return Array.isArray(value) ? value.join(', ') : String(value);
}

type Terms = { when?: string | undefined };

/** Lists the rules that decisions name: those with a condition, and those of a list. */
function ruleNames({ guardrails, step_up, defer }: ServiceConfig['security']): string[] {
  const denied = (guardrails.enabled ? placedDenials(guardrails) : []).filter(
    ({ rule }) => rule.when !== undefined,
  );
  const ruled = [
    ...placedRules<Terms>('step_up', step_up.enabled ? step_up.tools : {}),
    ...placedRules<Terms>('defer', defer.enabled ? defer.tools : {}),
  ].filter(({ rule, name }) => rule.when !== undefined || name.endsWith(']'));
  return [...denied, ...ruled].map(({ name }) => name);
}
