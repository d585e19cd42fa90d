import { conversing, type TaskScope } from '../../../machines/task/task-access.ts';
import { keyOfOwner } from '../store/task-owners.ts';

/** The conditions of a query, with their numbered parameters. */
export class Conditions {
  readonly #all: string[] = [];
  readonly values: unknown[] = [];

  /** Adds a parameter; returns its placeholder. */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  /** Adds a condition. */
  add(condition: string): void {
    this.#all.push(condition);
  }

  /** The `WHERE` clause. */
  get where(): string {
    return this.#all.length === 0 ? '' : `WHERE ${this.#all.join(' AND ')}`;
  }

  /** Returns the `WHERE` clause with one more condition, which is not added. */
  and(condition: string): string {
    return `WHERE ${[condition, ...this.#all].join(' AND ')}`;
  }
}

/** Restricts a task query to a scope, like `isWithin`. */
export function addScope(conditions: Conditions, scope: TaskScope): void {
  if (scope.kind === 'all') return;
  if (scope.kind === 'conversations') {
    const names = conditions.value([...conversing]);
    conditions.add(`split_part(owner, chr(10), 1) = ANY(${names}::text[])`);
    return;
  }
  const orgId = scope.kind === 'organisation' ? scope.orgId : scope.owner?.orgId;
  if (orgId !== undefined) conditions.add(`owner_org IN ('', ${conditions.value(orgId)})`);
  if (scope.kind === 'organisation') return;
  const owner = conditions.value(keyOfOwner(scope.owner));
  const listed = conditions.value(scope.listedAs);
  conditions.add(
    `(owner = ${owner} OR id IN (SELECT task_id FROM task_approvers WHERE email = ANY(${listed}::text[])))`,
  );
}
