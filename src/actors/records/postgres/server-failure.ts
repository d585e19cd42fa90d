import { codeOf } from '../../../machines/error-code.ts';
import { UnreachableError } from '../store/task-store.ts';

/**
 * Classes of SQLSTATE in which the server, not the statement, is at fault: connection, resources such as a full disk,
 * shutdown, and the locks of others.
 */
const passing = /^(08|53|57|58|25006|25P03|55P03|40001|40P01)/;

/** Returns whether an error says that the database cannot be asked now, and may be later. */
export function isServerGone(error: unknown): boolean {
  // Whatever keeps a connection from being made, no statement is at fault.
  if (error instanceof UnreachableError) return true;
  const code = codeOf(error);
  if (passing.test(code) || /^(E[A-Z]{4,}|ERR_SSL_)/.test(code)) return true;
  const message = error instanceof Error ? error.message : '';
  return /connection (terminated|ended)|timeout|not queryable|connection error/i.test(message);
}

/** Failures after which the connection goes on: its server answered, and may take the same statement later. */
const answered = /^(40|53|55|57014)/;

/** Returns whether an error says that its connection is of no more use, or leads to a server that is the wrong one by now. */
export function isConnectionLost(error: unknown): boolean {
  return isServerGone(error) && !answered.test(codeOf(error));
}

/** Returns whether an error says that a value cannot be kept: a text with a NUL, one too long for an index, no value at all. */
export function isUnkeepable(error: unknown): boolean {
  return /^(22|54|23502)/.test(codeOf(error) ?? '');
}
