import type { Caller, Owner, Task } from '../domain/task.ts';
import { chatProvider, runtimeProvider } from '../governance/approvers.ts';
import { normaliseEmail } from '../governance/email.ts';
import type { Standing } from '../governance/standing.ts';

/**
 * Visibility of tasks: tasks of the caller's organisation, the caller's own tasks, or all tasks
 * (docs/contract/authentication.md).
 */
export const taskAccesses = ['org', 'requester', 'any'] as const;

export type TaskAccess = (typeof taskAccesses)[number];

/** The task fields that determine its visibility. */
export type OwnedTask = Pick<Task, 'owner' | 'requester' | 'deferral' | 'settled'>;

/** The tasks that one caller may see. */
export type TaskScope =
  | { kind: 'all' }
  /** Tasks requested with one of the daemon's own tokens. */
  | { kind: 'conversations' }
  /** Tasks of the organisation, and tasks without one. */
  | { kind: 'organisation'; orgId: string }
  /**
   * Tasks that the caller requested or is a listed approver of; limited to the caller's organisation if there is one.
   */
  | { kind: 'own'; owner: Owner | null; listedAs: readonly string[] };

/** Every task; for the daemon itself. */
export const everything: TaskScope = { kind: 'all' };

/**
 * Providers whose tasks a chat conversation may continue. Conversations of earlier releases used the operator's token.
 */
export const conversing: readonly string[] = [chatProvider, runtimeProvider];

/**
 * Returns the tasks that a caller may see, based only on verified data of the caller (docs/contract/authentication.md).
 * A conversation never continues another caller's task: such a caller could otherwise create a task under a thread's
 * name in advance.
 */
export function scopeOf(
  access: TaskAccess,
  caller: Caller | null,
  standing: Standing = { as: [] },
): TaskScope {
  if (caller?.provider === chatProvider) return { kind: 'conversations' };
  if (access === 'any' || caller?.provider === runtimeProvider) return everything;
  if (access === 'requester') {
    const email = caller?.email ?? null;
    return { kind: 'own', owner: caller && asOwner(caller), listedAs: entriesOf(email, standing) };
  }
  return caller?.orgId === undefined ? everything : { kind: 'organisation', orgId: caller.orgId };
}

/** Returns true if a task is in a scope. */
export function isWithin(scope: TaskScope, task: OwnedTask): boolean {
  if (scope.kind === 'all') return true;
  const owner = ownerOf(task);
  if (scope.kind === 'organisation') return isOf(scope.orgId, owner);
  if (scope.kind === 'conversations') return owner !== null && conversing.includes(owner.provider);
  return (
    isOf(scope.owner?.orgId, owner) &&
    (isSameOwner(scope.owner, owner) || isListed(task.deferral?.approvers, scope.listedAs))
  );
}

/**
 * Returns true if a caller may submit a decision to a task. This includes a listed approver who comes too late, and who
 * receives the name of the first one.
 */
export function mayDecide(scope: TaskScope, task: OwnedTask): boolean {
  if (isWithin(scope, task)) return true;
  return (
    scope.kind === 'own' &&
    isOf(scope.owner?.orgId, ownerOf(task)) &&
    isListed(task.settled?.approvers, scope.listedAs)
  );
}

/** Returns a task's owner; `null` without authentication. Tasks of older releases belong to their requester. */
export function ownerOf({ owner, requester }: Pick<Task, 'owner' | 'requester'>): Owner | null {
  if (owner !== undefined) return owner;
  return requester && asOwner(requester);
}

/**
 * Returns the owner of a task that is run again: the previous owner. A task without an organisation passes to the first
 * caller with one, except for conversations. A task never leaves an organisation.
 */
export function ownerOfNextRun(
  before: Pick<Task, 'owner' | 'requester'>,
  requester: Caller | null,
): Owner | null {
  const owner = ownerOf(before);
  const isFree = owner?.orgId === undefined && owner?.provider !== chatProvider;
  return isFree && requester?.orgId !== undefined ? asOwner(requester) : owner;
}

/** Returns a caller's fields that identify an owner. */
export function asOwner({ provider, userId, orgId }: Caller): Owner {
  return { provider, userId, ...(orgId === undefined ? {} : { orgId }) };
}

/** A caller without an organisation is not restricted by it. */
function isOf(orgId: string | undefined, owner: Owner | null): boolean {
  return orgId === undefined || owner?.orgId === undefined || owner.orgId === orgId;
}

/** Returns true if two callers are the same, in the same organisation; two absent callers are the same. */
export function isSameCaller(one: Owner | null, other: Owner | null): boolean {
  return isSameOwner(one, other) && one?.orgId === other?.orgId;
}

function isSameOwner(one: Owner | null, other: Owner | null): boolean {
  return one?.provider === other?.provider && one?.userId === other?.userId;
}

/** A missing list lists no one. */
function isListed(
  approvers: readonly string[] | null | undefined,
  entries: readonly string[],
): boolean {
  return approvers?.some((entry) => entries.includes(entry)) === true;
}

/** Returns the entries of approver lists by which a person may see a task. */
function entriesOf(email: string | null, { as, for: delegators = [] }: Standing): string[] {
  const people = [{ email, as }, ...delegators];
  return people.flatMap((one) => [normaliseEmail(one.email ?? '') ?? [], one.as].flat());
}
