import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import { limitNamesOf } from '../../agent/policy/ruled-tools.ts';
import type { AgentReading } from '../../agent/start/read-agent.ts';
import { explainCall } from './explain-call.ts';
import type { Explanation } from './explanation.ts';
import { openPolicy } from './open-policy.ts';
import { callerOf, ranBefore, type TestRow } from './policy-table.ts';

/** The result of a row of a table of policy tests. */
export interface RowResult {
  name: string;
  place: string;
  /** One line per difference; empty for a row that passes. */
  differences: string[];
  /** Rules that decided in this row. */
  rules: string[];
  /** `run`, `deny`, `step_up` or `defer`. */
  outcome: Explanation['outcome'];
}

/** The outcome of a row, in the words of its `expect`. */
type Outcome = TestRow['expect'];

/**
 * Evaluates rows of policy tests. Runs no tool and asks no one. Intent alignment is omitted, since it would call an
 * embedder. Rejects with the reason of the signal.
 */
export async function testRows(
  agent: NonNullable<AgentReading['agent']>,
  rows: readonly TestRow[],
  {
    env,
    clock,
    log,
    signal,
  }: { env: NodeJS.ProcessEnv; clock: Clock; log: Log; signal: AbortSignal },
): Promise<RowResult[]> {
  const names = rows.map(({ tool }) => tool);
  const policy = openPolicy(agent, names, { env, clock, log });
  const limits = limitNamesOf(agent.config);
  const results: RowResult[] = [];
  for (const row of rows) {
    const requester = callerOf(row);
    const { cwd, client } = row;
    const explanation = await explainCall(
      {
        ...{ tool: row.tool, args: row.args, acr: null, message: null },
        ...(requester === null ? {} : { requester }),
        ran: ranBefore(row),
        used: row.given.limits,
        origin: {
          ...(cwd === undefined ? {} : { cwd }),
          ...(client === undefined ? {} : { client }),
        },
      },
      { ...policy, scorer: null, outputRules: [], clock, log, signal },
    );
    const unknown = Object.keys(row.given.limits).filter((name) => !limits.includes(name));
    const { differences, ...result } = resultOf(row, explanation);
    const missing = unknown.map((name) => `given: there is no limit ${name}`);
    results.push({ ...result, differences: [...missing, ...differences] });
  }
  return results;
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
  return { name, place, differences, rules, outcome: explanation.outcome };
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
