import { codeOf } from '../../../machines/error-code.ts';
import { UnreachableError } from '../store/task-store.ts';

/**
 * SQLSTATE classes that do not concern the value to store: connection, read-only server, missing permissions or tables,
 * locks, resources such as a full disk, shutdown, corruption.
 */
const passing = /^(08|0A|25|28|3D|3F|40|42|53|55|57|58|F0|XX)/;

/**
 * Returns whether an error means that the database is currently unusable, but may be usable again after an
 * intervention.
 */
export function isServerGone(error: unknown): boolean {
  // A failed connection is never the fault of a statement.
  if (error instanceof UnreachableError) return true;
  const code = codeOf(error);
  if (passing.test(code) || /^(E[A-Z]{4,}|ERR_SSL_)/.test(code)) return true;
  const message = error instanceof Error ? error.message : '';
  return /connection (terminated|ended)|timeout|not queryable|connection error/i.test(message);
}

/**
 * Failures after which the connection remains usable: the server answered, and may accept the same statement later. 0A000 is
 * not one: a prepared statement whose columns changed fails on its connection for good.
 */
const answered = /^(0A(?!000)|3F|40|42|53|55|57014|XX)/;

/** Returns whether an error means that its connection is unusable, or leads to a server that is now the wrong one. */
export function isConnectionLost(error: unknown): boolean {
  return isServerGone(error) && !answered.test(codeOf(error));
}

/**
 * Returns whether an error means that a value cannot be stored: text with a NUL, too long for an index, or no value.
 */
export function isUnkeepable(error: unknown): boolean {
  return /^(22|54|23502)/.test(codeOf(error) ?? '');
}
