import type { TaskChange } from '../../src/actors/records/store/task-rows.ts';
import type { TaskStore } from '../../src/actors/records/store/task-store.ts';
import type { LedgerEntry, LimitPeriod } from '../../src/machines/domain/ledger.ts';
import type { CallEffect, CallLimit, MeasureInput } from '../../src/machines/governance/bounds.ts';
import { aTask, aWrite } from './stored-tasks.ts';
import { aDeferRule } from './task-fixtures.ts';

export const day: LimitPeriod = { rolling: 86_400_000 };

/** A limit of 5,000 in 24 hours for a call of 2,000. */
export function aLimit(overrides: Partial<CallLimit> = {}): CallLimit {
  return {
    ...{ name: 'refunds', key: '{"caller":"rita"}', by: { caller: 'rita' }, period: day },
    ...{ max: '5000', amount: '2000', over: aDeferRule() },
    ...overrides,
  };
}

/** The effect of a call, which is held if it repeats. */
export function anEffect(overrides: Partial<CallEffect> = {}): CallEffect {
  return {
    ...{ name: 'refund', key: 'refund:1', repeat: 'ask', within: null, over: aDeferRule() },
    ...overrides,
  };
}

/** A call that is to run next. */
export function aMeasure(
  id: string,
  { limits = [], effect = null }: Partial<MeasureInput['bounds']>,
  overrides: Partial<MeasureInput> = {},
): MeasureInput {
  return {
    taskId: `task-${id}`,
    call: { id, tool: 'refund', args: {}, argsSha256: 'a'.repeat(64) },
    requester: { provider: 'sso', userId: 'rita' },
    bounds: { limits, effect },
    ...{ reserves: true, joins: false, seen: null },
    ...overrides,
  };
}

/** Saves the start of a call in a task of its own. */
export function start(
  store: TaskStore,
  id: string,
  entries: readonly LedgerEntry[],
  approver?: string,
): Promise<void> {
  const released = approver === undefined ? {} : { approver };
  const call = { callId: id, tool: 'refund', argsSha256: 'a'.repeat(64), at: 0 };
  return save(store, id, 1, [{ type: 'started', ...call, entries, ...released }]);
}

/** Saves the end of a call whose start is saved. */
export function end(
  store: TaskStore,
  id: string,
  outcome: 'succeeded' | 'failed' | 'not_run' | 'unknown',
  { revision = 2, wasUnknown = false } = {},
): Promise<void> {
  const call = { callId: id, tool: 'refund', argsSha256: 'a'.repeat(64) };
  const late = wasUnknown ? ({ wasUnknown } as const) : {};
  return save(store, id, revision, [{ type: 'ended', ...call, end: outcome, ...late }]);
}

function save(
  store: TaskStore,
  id: string,
  revision: number,
  ledger: NonNullable<TaskChange['ledger']>,
): Promise<void> {
  const requester = { provider: 'sso', userId: 'rita' };
  const write = aWrite(aTask({ id: `task-${id}`, revision, requester }), { ledger });
  return store.save(`task-${id}`, () => write);
}

/** Returns whether a call is over a limit of which no stored call uses anything. */
export async function isOverLimit({ ledger }: Pick<TaskStore, 'ledger'>): Promise<boolean> {
  const limits = [aLimit({ name: 'unused', period: { rolling: 1e15 } })];
  const { limits: measured } = await ledger.measure(aMeasure('unused', { limits }), Date.now());
  return measured[0]?.isOver === true;
}
