import { normaliseEmail } from '../../../machines/governance/email.ts';
import type { Owner, Task } from '../../../machines/task/task.ts';
import { conversing, ownerOf, type TaskScope } from '../../../machines/task/task-access.ts';

/** Tells whose a task is, in the columns `owner_org` and `owner`. */
export function ownerColumns(task: Task): [org: string, owner: string] {
  return columnsOfOwner(ownerOf(task));
}

/** Writes an owner as the columns `owner_org` and `owner` have it. */
export function columnsOfOwner(owner: Owner | null): [org: string, owner: string] {
  return [owner?.orgId ?? '', keyOfOwner(owner)];
}

/** Reads whose a task is from its columns, for one that cannot be read otherwise. */
export function ownerOfColumns(org: string, key: string): Owner | null {
  if (key === '') return null;
  const [provider = '', ...userId] = key.split('\n');
  return { provider, userId: userId.join('\n'), ...(org === '' ? {} : { orgId: org }) };
}

/** Lists who may decide on what waits, as JSON; `null` while nothing does, or everybody may. */
export function approversOf({ deferral }: Task): string | null {
  const approvers = deferral?.approvers ?? null;
  return approvers === null ? null : JSON.stringify(approvers);
}

/** Narrows a selection of tasks down to a scope, as `isWithin` does; nothing to add for every task. */
export function scopeFilter(scope: TaskScope): { where: string; values: Record<string, string> } {
  if (scope.kind === 'all') return { where: '', values: {} };
  if (scope.kind === 'conversations') return conversations;
  const orgId = scope.kind === 'organisation' ? scope.orgId : scope.owner?.orgId;
  const org =
    orgId === undefined
      ? { where: '', values: {} }
      : { where: `AND owner_org IN ('', :org)`, values: { org: orgId } };
  if (scope.kind === 'organisation') return org;
  const listed = 'position IN (SELECT position FROM task_approvers WHERE email = :email)';
  return {
    where: `${org.where} AND (owner = :owner OR ${listed})`,
    values: { ...org.values, owner: keyOfOwner(scope.owner), email: listedAs(scope.email) },
  };
}

const conversations = {
  where: `AND substr(owner, 1, instr(owner, char(10)) - 1) IN (${conversing.map((name) => `'${name}'`).join(', ')})`,
  values: {},
};

/** Writes an owner as the column `owner` has it: empty for nobody; a provider's name has no line break. */
export function keyOfOwner(owner: Owner | null): string {
  return owner === null ? '' : `${owner.provider}\n${owner.userId}`;
}

/** Writes an email as lists of approvers have it; an entry of a list is never empty, so nobody is listed as that. */
export function listedAs(email: string | null): string {
  return normaliseEmail(email ?? '') ?? '';
}
