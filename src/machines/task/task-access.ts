import { chatProvider, isApprover, runtimeProvider } from '../governance/approvers.ts';
import type { Caller, Owner, Task } from './task.ts';

/** How far callers see: tasks of their organisation, their own, or all (docs/contract/authentication.md). */
export const taskAccesses = ['org', 'requester', 'any'] as const;

export type TaskAccess = (typeof taskAccesses)[number];

/** What of a task tells who may know of it. */
export type OwnedTask = Pick<Task, 'owner' | 'requester' | 'deferral' | 'settled'>;

/** The tasks that one caller may know of. */
export type TaskScope =
  | { kind: 'all' }
  /** Those that were asked for with one of the daemon's own tokens. */
  | { kind: 'conversations' }
  /** Those of an organisation, and of none. */
  | { kind: 'organisation'; orgId: string }
  /** Those that somebody asked for, or is a listed approver of; within their organisation when they have one. */
  | { kind: 'own'; owner: Owner | null; email: string | null };

/** Every task, for the daemon itself. */
export const everything: TaskScope = { kind: 'all' };

/** Whose tasks conversations in chats go on with; those of earlier releases had the operator's token. */
export const conversing: readonly string[] = [chatProvider, runtimeProvider];

/**
 * Tells which tasks a caller may know of. Only what is verified of the caller counts (docs/contract/authentication.md).
 * A conversation goes on with no task of others, who could otherwise lie in wait under the name of a thread.
 */
export function scopeOf(access: TaskAccess, caller: Caller | null): TaskScope {
  if (caller?.provider === chatProvider) return { kind: 'conversations' };
  if (access === 'any' || caller?.provider === runtimeProvider) return everything;
  if (access === 'requester') {
    return { kind: 'own', owner: caller && asOwner(caller), email: caller?.email ?? null };
  }
  return caller?.orgId === undefined ? everything : { kind: 'organisation', orgId: caller.orgId };
}

/** Tells whether a task is among those of a scope. */
export function isWithin(scope: TaskScope, task: OwnedTask): boolean {
  if (scope.kind === 'all') return true;
  const owner = ownerOf(task);
  if (scope.kind === 'organisation') return isOf(scope.orgId, owner);
  if (scope.kind === 'conversations') return owner !== null && conversing.includes(owner.provider);
  return (
    isOf(scope.owner?.orgId, owner) &&
    (isSameOwner(scope.owner, owner) || isListed(task.deferral?.approvers, scope.email))
  );
}

/**
 * Tells whether a caller may put a decision to a task: also an approver who was listed and comes second,
 * who is told who was first.
 */
export function mayDecide(scope: TaskScope, task: OwnedTask): boolean {
  if (isWithin(scope, task)) return true;
  return (
    scope.kind === 'own' &&
    isOf(scope.owner?.orgId, ownerOf(task)) &&
    isListed(task.settled?.approvers, scope.email)
  );
}

/** Returns whom a task belongs to; `null` when nobody was signed in. Older tasks are who asked's. */
export function ownerOf({ owner, requester }: Pick<Task, 'owner' | 'requester'>): Owner | null {
  if (owner !== undefined) return owner;
  return requester && asOwner(requester);
}

/**
 * Returns whom a task belongs to when somebody has it run again: to who asked first, as before. One of no
 * organisation goes over to the first that speaks in it, a conversation excepted; nothing leads out of an
 * organisation.
 */
export function ownerOfNextRun(
  before: Pick<Task, 'owner' | 'requester'>,
  requester: Caller | null,
): Owner | null {
  const owner = ownerOf(before);
  const isFree = owner?.orgId === undefined && owner?.provider !== chatProvider;
  return isFree && requester?.orgId !== undefined ? asOwner(requester) : owner;
}

/** Returns what of a caller tells whose a task is. */
export function asOwner({ provider, userId, orgId }: Caller): Owner {
  return { provider, userId, ...(orgId === undefined ? {} : { orgId }) };
}

/** Whoever has no organisation is held back by none. */
function isOf(orgId: string | undefined, owner: Owner | null): boolean {
  return orgId === undefined || owner?.orgId === undefined || owner.orgId === orgId;
}

/** Tells whether two callers are one, in one organisation; nobody is nobody else. */
export function isSameCaller(one: Owner | null, other: Owner | null): boolean {
  return isSameOwner(one, other) && one?.orgId === other?.orgId;
}

function isSameOwner(one: Owner | null, other: Owner | null): boolean {
  return one?.provider === other?.provider && one?.userId === other?.userId;
}

/** Without a list nobody is on it. */
function isListed(approvers: readonly string[] | null | undefined, email: string | null): boolean {
  return approvers !== null && approvers !== undefined && isApprover(approvers, email);
}
