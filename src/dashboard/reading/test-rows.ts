import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import { limitNamesOf } from '../../agent/policy/ruled-tools.ts';
import type { AgentReading } from '../../agent/start/read-agent.ts';
import { formatDuration } from '../../machines/duration.ts';
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

/** The outcome of a row as text, by the keys of its `expect`. */
type Outcome = Readonly<Record<keyof TestRow['expect'], string>>;

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
    const { cwd, client, now: at } = row;
    const explanation = await explainCall(
      {
        ...{ tool: row.tool, args: row.args, acr: null, message: null },
        ...(requester === null ? {} : { requester }),
        ran: ranBefore(row),
        at,
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
  const differences = (Object.keys(expect) as (keyof Outcome)[]).flatMap((key) => {
    const got = key === 'quorum' && typeof expect.quorum === 'number' ? found.total : found[key];
    const wanted = wantedText(expect, key);
    if (wanted === got) return [];
    const reason = key === 'decision' && explanation.text ? `: ${explanation.text}` : '';
    return [`${key}: expected ${wanted}, got ${got}${reason}`];
  });
  return { name, place, differences, rules, outcome: explanation.outcome };
}

function wantedText(expect: TestRow['expect'], key: keyof Outcome): string {
  switch (key) {
    case 'approvers':
      return listsText(expect.approvers ?? null);
    case 'timeout':
      return formatDuration(expect.timeout ?? 0);
    default:
      return textOf(expect[key]);
  }
}

/** `total` is the number of approvals from all lists together. */
function outcomeOf({ outcome, layers, deferral }: Explanation): Outcome & { total: string } {
  const isModified = layers.some(({ decision }) => decision === 'modify');
  const allowed = isModified ? 'modify' : 'allow';
  const { to, quorum, quorum_of: parts, approvers = null, also_by: others = [] } = deferral ?? {};
  const held = (value: string): string => (deferral === undefined ? 'none' : value);
  return {
    decision: outcome === 'run' ? allowed : outcome,
    rule: textOf(layers.findLast((layer) => layer.rule !== undefined)?.rule),
    to: textOf(to),
    approvers: held(listsText([...(approvers === null ? [] : [approvers]), ...others])),
    quorum: textOf(parts ?? quorum),
    total: textOf(quorum),
    timeout: textOf(deferral?.timeout),
    four_eyes: held(textOf(deferral?.four_eyes)),
    require_reason: held(textOf(deferral?.require_reason ?? false)),
    require_passkey: held(textOf(deferral?.require_passkey ?? false)),
    edit: held(textOf(deferral?.edit ?? false)),
  };
}

/** Returns lists of approvers as text; their order makes no difference. */
function listsText(given: string | readonly (string | readonly string[])[] | null): string {
  const all = typeof given === 'string' ? [given] : (given ?? []);
  const isOne = all.every((one) => typeof one === 'string');
  const lists = isOne ? [all] : all.map((one) => (typeof one === 'string' ? [one] : one));
  const texts = lists.map((list) =>
    list
      .map((one) => one.toLowerCase())
      .toSorted()
      .join(', '),
  );
  const [first = '', ...others] = texts.filter((text) => text !== '').toSorted();
  return first === '' ? 'anyone' : [first, ...others].join(' and also ');
}

function textOf(
  value:
    | string
    | number
    | boolean
    | readonly string[]
    | Readonly<Record<string, number>>
    | undefined,
): string {
  if (value === undefined) return 'none';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return value.join(', ');
  return Object.entries(value)
    .map(([entry, count]) => `${count} of ${entry}`)
    .toSorted()
    .join(', ');
}
