import type { SaidTurn, SettledDeferral, ToolCall } from '../domain/task.ts';
import { deferRule, openDeferral } from '../governance/defer-policy.ts';
import { isJsonObject, type JsonObject } from '../json.ts';
import { defaultLimits, nothingSpent } from './limits.ts';
import type { TaskContext, TaskRun } from './task-input.ts';
import { taskMachineVersion } from './task-machine.ts';

/** A persisted task snapshot (JSON), written by any supported chart version. */
export interface KeptSnapshot {
  context: { [key: string]: unknown };
  [key: string]: unknown;
}

/**
 * Migrations from each version of the task chart to the next. Append only: each is tested with snapshots written by the
 * release of its version.
 */
const migrations: {
  readonly [from: number]: (snapshot: KeptSnapshot, argsDigest: ArgsDigest) => KeptSnapshot;
} = {
  /** To version 3: the history is limited and counts the dropped messages; a quorum may also count callers. */
  2: ({ context, ...snapshot }) => {
    const { deferral } = context;
    const held = deferral === null ? null : { distinctCallers: false, ...(deferral as object) };
    return { ...snapshot, context: { ...context, leftOut: 0, deferral: held } };
  },
  /** To version 4: a waiting task accepts messages. */
  3: ({ context, ...snapshot }) => ({ ...snapshot, context: { ...context, followUps: [] } }),
  /**
   * To version 5: the request is separate from its results, and the number of exchanges sent to the model is always
   * present.
   */
  4: ({ context, ...snapshot }) => {
    const { asked = [], rest = [] } = Object.groupBy(Object.entries(context), ([key]) =>
      keysOfRun.has(key) ? 'asked' : 'rest',
    );
    const run = Object.fromEntries(asked);
    return { ...snapshot, context: { run, told: 0, ...Object.fromEntries(rest) } };
  },
  /**
   * To version 6: waits invoke no actor, a denied message is never stored, and a call that has not started has no start
   * time.
   */
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
  /**
   * To version 7: tokens and time are limited in addition to turns, and a task may continue the messages of earlier
   * tasks.
   */
  6: ({ context: { turns, usage = null, ...context }, ...snapshot }) => {
    const run = { session: [], limits: defaultLimits, ...(context['run'] as object) };
    const spent = { ...nothingSpent, turns, usage };
    return { ...snapshot, context: { ...context, run, spent } };
  },
  /** To version 8: the calls of one turn are sent to the model as one turn, and a tool's error may be sent too. */
  7: ({ context: { told, ...context }, ...snapshot }) => {
    const { limits, ...before } = context['run'] as { limits: object };
    const { failedTurns } = defaultLimits;
    const run = { onToolError: 'fail', ...before, limits: { failedTurns, ...limits } };
    return { ...snapshot, context: { ...context, run, said: turnsUntil(context, Number(told)) } };
  },
  /** To version 9: a released call is evaluated again, and a run stores the calls that started. */
  8: ({ context: { approvedCallId, ...context }, ...snapshot }) => {
    const run = { ...(context['run'] as object), ran: [] };
    const held = releasedBefore(approvedCallId, context);
    return { ...snapshot, context: { ...context, run, held } };
  },
  /** To version 10: a call of an MCP client runs without a model. */
  9: ({ context, ...snapshot }) => {
    const before = context['run'] as TaskRun;
    const hasModel = before.surface !== 'mcp';
    const migrated = { ...snapshot, context: { ...context, run: { ...before, hasModel } } };
    return hasModel || !isThinking(snapshot['value']) ? migrated : withoutThinking(migrated);
  },
  /** To version 11: the digest of a call covers its tool. */
  10: withDigests,
};

/** Returns the `argsSha256` of a call. */
export type ArgsDigest = (tool: string, args: JsonObject) => string;

/** A release stays bound to the call that was approved: only the digests of the stored calls themselves are known. */
function withDigests({ context, ...snapshot }: KeptSnapshot, argsDigest: ArgsDigest): KeptSnapshot {
  const { pending = [], exchanges = [] } = context as unknown as Partial<TaskContext>;
  const calls = [...pending, ...exchanges.map(({ call }) => call)];
  const known = new Map(
    calls.map(({ tool, args, argsSha256 }) => [
      JSON.stringify([tool, argsSha256]),
      argsDigest(tool, args),
    ]),
  );
  const rewritten = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewritten);
    if (!isJsonObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => [name, rewritten(member)]);
    const migrated = Object.fromEntries(members) as JsonObject;
    const { argsSha256 } = migrated;
    if (typeof argsSha256 !== 'string') return migrated;
    const { callSha256 = known.get(JSON.stringify([migrated['tool'], argsSha256])), ...rest } =
      migrated;
    return { ...rest, argsSha256: callSha256 ?? argsSha256 };
  };
  return { ...snapshot, context: rewritten(context) as KeptSnapshot['context'] };
}

/** A scripted model made the call of an MCP client in one turn, and repeated its result in the next one. */
function withoutThinking({ context, ...snapshot }: KeptSnapshot): KeptSnapshot {
  const { exchanges, run } = context as unknown as TaskContext;
  if (exchanges.length > 0) {
    return { ...snapshot, value: { working: { executing: 'recording' } }, children: {}, context };
  }
  const calls = run.request.parts.flatMap((part) => (part.kind === 'data' ? [part.data] : []));
  const accept = {
    src: 'accept',
    snapshot: { status: 'active', input: { taskId: run.id, calls } },
  };
  return {
    ...snapshot,
    value: { working: 'accepting' },
    children: { '0.task.working.accepting': accept },
    context: { ...context, run: { ...run, calls } },
  };
}

/** Earlier versions bound a release only to the digest of the arguments, which the decision contains. */
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

/** Each call was sent as its own turn; only the calls of the last turn are known to belong together. */
function turnsUntil({ exchanges, pending }: KeptSnapshot['context'], told: number): SaidTurn[] {
  const asked = [exchanges, pending].flatMap((calls) => calls as unknown[]).length;
  const turns = asked > told ? told + 1 : told;
  const by = { provider: '', model: '' };
  return Array.from({ length: turns }, (_, after) => ({ after, by, parts: [] }));
}

/** The actors of version 5 that only waited. */
const waitingActors = new Set(['recordStart', 'recordEnd', 'deadline']);

/** The context keys of version 4 that belong to the request. */
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

function isThinking(value: unknown): boolean {
  return JSON.stringify(value) === '{"working":"thinking"}';
}

function isCalling(value: unknown): boolean {
  return JSON.stringify(value).includes('"calling"');
}

/** The oldest version whose snapshots can be resumed. */
export const oldestTaskMachineVersion = Math.min(...Object.keys(migrations).map(Number));

/** Returns true if snapshots of a version can be resumed; never for a newer chart. */
export function isKnownVersion(version: number): boolean {
  return version >= oldestTaskMachineVersion && version <= taskMachineVersion;
}

/** Migrates a snapshot of a known version to the present version. */
export function migrateSnapshot(
  snapshot: KeptSnapshot,
  version: number,
  argsDigest: ArgsDigest,
): KeptSnapshot {
  // Integer keys are iterated in ascending order.
  return Object.entries(migrations)
    .filter(([from]) => Number(from) >= version)
    .reduce((migrated, [, migrate]) => migrate(migrated, argsDigest), snapshot);
}
