import { deferRule, openDeferral } from '../governance/defer-policy.ts';
import { defaultLimits, nothingSpent } from './limits.ts';
import type { SaidTurn, SettledDeferral, ToolCall } from './task.ts';
import { taskMachineVersion } from './task-machine.ts';

/** A snapshot of the task chart as some version of it was kept: plain JSON. */
export interface KeptSnapshot {
  context: { [key: string]: unknown };
  [key: string]: unknown;
}

/**
 * What leads from a version of the task chart to the one after it. Only ever added to: each is tested with
 * snapshots that the release of its version wrote.
 */
const migrations: { readonly [from: number]: (snapshot: KeptSnapshot) => KeptSnapshot } = {
  /** The history has a bound since, and says how much of it is not kept; a quorum may count callers, too. */
  2: ({ context, ...snapshot }) => {
    const { deferral } = context;
    const held = deferral === null ? null : { distinctCallers: false, ...(deferral as object) };
    return { ...snapshot, context: { ...context, leftOut: 0, deferral: held } };
  },
  /** A task that waits takes messages since. */
  3: ({ context, ...snapshot }) => ({ ...snapshot, context: { ...context, followUps: [] } }),
  /** What was asked for stands apart from what has become of it since; how much the model was told is always there. */
  4: ({ context, ...snapshot }) => {
    const { asked = [], rest = [] } = Object.groupBy(Object.entries(context), ([key]) =>
      keysOfRun.has(key) ? 'asked' : 'rest',
    );
    const run = Object.fromEntries(asked);
    return { ...snapshot, context: { run, told: 0, ...Object.fromEntries(rest) } };
  },
  /** Nothing is invoked to wait since, a refused message is never kept, and a call that has not started has no time. */
  5: ({ context, ...snapshot }) => {
    const { refusal: _, ...run } = context['run'] as { refusal: unknown };
    const children = Object.entries(snapshot['children'] as { [id: string]: { src: string } });
    const startedAt = isCalling(snapshot['value']) ? context['startedAt'] : null;
    return {
      ...snapshot,
      children: Object.fromEntries(children.filter(([, { src }]) => !waitingActors.has(src))),
      context: { ...context, run, startedAt },
    };
  },
  /** Tokens and time have limits beside turns since, and a task may go on with what was said in earlier ones. */
  6: ({ context: { turns, usage = null, ...context }, ...snapshot }) => {
    const run = { session: [], limits: defaultLimits, ...(context['run'] as object) };
    const spent = { ...nothingSpent, turns, usage };
    return { ...snapshot, context: { ...context, run, spent } };
  },
  /** The calls of one turn are told as one turn since, and an error of a tool may be told as well. */
  7: ({ context: { told, ...context }, ...snapshot }) => {
    const { limits, ...before } = context['run'] as { limits: object };
    const { failedTurns } = defaultLimits;
    const run = { onToolError: 'fail', ...before, limits: { failedTurns, ...limits } };
    return { ...snapshot, context: { ...context, run, said: turnsUntil(context, Number(told)) } };
  },
  /** A released call is ruled on again since, and a run keeps the calls that started. */
  8: ({ context: { approvedCallId, ...context }, ...snapshot }) => {
    const run = { ...(context['run'] as object), ran: [] };
    const held = releasedBefore(approvedCallId, context);
    return { ...snapshot, context: { ...context, run, held } };
  },
};

/** Of a release only its digest counted, which the decision has. */
function releasedBefore(id: unknown, { settled, pending }: KeptSnapshot['context']): unknown {
  const call = (pending as ToolCall[] | undefined)?.at(0);
  const decided = settled as SettledDeferral | null | undefined;
  if (call === undefined || decided === undefined || decided === null) return null;
  if (call.id !== id) return null;
  const { tool, argsSha256, approver, decidedAt: now } = decided;
  const deferral = openDeferral(call, deferRule({ to: [], timeout: 0 }), now);
  const approvals = [{ approver, at: now }];
  return { deferral: { ...deferral, id, tool, argsSha256, approvals }, isReleased: true };
}

/** Each call was told by itself; those of the last turn are known to belong together. */
function turnsUntil({ exchanges, pending }: KeptSnapshot['context'], told: number): SaidTurn[] {
  const asked = [exchanges, pending].flatMap((calls) => calls as unknown[]).length;
  const turns = asked > told ? told + 1 : told;
  const by = { provider: '', model: '' };
  return Array.from({ length: turns }, (_, after) => ({ after, by, parts: [] }));
}

/** The actors of version 5 that did nothing but wait. */
const waitingActors = new Set(['recordStart', 'recordEnd', 'deadline']);

/** What of the context of version 4 was what the run was asked for. */
const keysOfRun = new Set([
  'id',
  'contextId',
  'correlationId',
  'tags',
  'trace',
  'requester',
  'owner',
  'surface',
  'history',
  'leftOut',
  'request',
  'refusal',
  'createdAt',
]);

function isCalling(value: unknown): boolean {
  return JSON.stringify(value).includes('"calling"');
}

/** The oldest version whose snapshots can be gone on with. */
export const oldestTaskMachineVersion = Math.min(...Object.keys(migrations).map(Number));

/** Tells whether snapshots of a version can be gone on with; those of a newer chart never. */
export function isKnownVersion(version: number): boolean {
  return version >= oldestTaskMachineVersion && version <= taskMachineVersion;
}

/** Brings a snapshot of a known version to the present one. */
export function migrateSnapshot(snapshot: KeptSnapshot, version: number): KeptSnapshot {
  // Keys that are integers stand in ascending order.
  return Object.entries(migrations)
    .filter(([from]) => Number(from) >= version)
    .reduce((migrated, [, migrate]) => migrate(migrated), snapshot);
}
