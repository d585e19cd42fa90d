import type { Owner, Task } from '../../../machines/domain/task.ts';
import { decidersOf } from '../../../machines/task/decided-calls.ts';
import { conversing, ownerOf, type TaskScope } from '../../../machines/task/task-access.ts';

/** Returns the owner of a task as the columns `owner_org` and `owner`. */
export function ownerColumns(task: Task): [org: string, owner: string] {
  return columnsOfOwner(ownerOf(task));
}

/** Converts an owner to the columns `owner_org` and `owner`. */
export function columnsOfOwner(owner: Owner | null): [org: string, owner: string] {
  return [owner?.orgId ?? '', keyOfOwner(owner)];
}

/** Reads a task's owner from its columns, for a row that is otherwise unreadable. */
export function ownerOfColumns(org: string, key: string): Owner | null {
  if (key === '') return null;
  const [provider = '', ...userId] = key.split('\n');
  return { provider, userId: userId.join('\n'), ...(org === '' ? {} : { orgId: org }) };
}

/**
 * Returns the entries of `task_approvers` as JSON, `null` for none: the approvers of a waiting call, and the keys of
 * those who decided on the task. No email contains a line break, so a key matches no approver.
 */
export function approversOf({ deferral, decided = [] }: Task): string | null {
  const approvers = deferral?.approvers ?? null;
  const deciders = decided.flatMap(({ by }) => by.flatMap(decidersOf));
  if (approvers === null && deciders.length === 0) return null;
  return JSON.stringify([...new Set([...(approvers ?? []), ...deciders])]);
}

/** Restricts a task query to a scope, like `isWithin`; empty for an unrestricted scope. */
export function scopeFilter(scope: TaskScope): { where: string; values: Record<string, string> } {
  if (scope.kind === 'all') return { where: '', values: {} };
  if (scope.kind === 'conversations') return conversations;
  const orgId = scope.kind === 'organisation' ? scope.orgId : scope.owner?.orgId;
  const org =
    orgId === undefined
      ? { where: '', values: {} }
      : { where: `AND owner_org IN ('', :org)`, values: { org: orgId } };
  if (scope.kind === 'organisation') return org;
  const listed =
    'position IN (SELECT position FROM task_approvers WHERE email IN (SELECT value FROM json_each(:listed)))';
  return {
    where: `${org.where} AND (owner = :owner OR ${listed})`,
    values: {
      ...org.values,
      owner: keyOfOwner(scope.owner),
      listed: JSON.stringify(scope.listedAs),
    },
  };
}

const conversations = {
  where: `AND substr(owner, 1, instr(owner, char(10)) - 1) IN (${conversing.map((name) => `'${name}'`).join(', ')})`,
  values: {},
};

/** Formats an owner for the column `owner`; empty for no owner. A provider's name contains no line break. */
export function keyOfOwner(owner: Owner | null): string {
  return owner === null ? '' : `${owner.provider}\n${owner.userId}`;
}
