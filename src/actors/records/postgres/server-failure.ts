import { codeOf } from '../../../machines/error-code.ts';
import { UnreachableError } from '../store/task-store.ts';

/**
 * Classes of SQLSTATE in which what is to be kept is not at fault: connection, a server that takes no writes, rights and
 * tables that are missing, the locks of others, resources such as a full disk, shutdown, damage.
 */
const passing = /^(08|0A|25|28|3D|3F|40|42|53|55|57|58|F0|XX)/;

/** Returns whether an error says that the database cannot be asked now, and may be later, once somebody has seen to it. */
export function isServerGone(error: unknown): boolean {
  // Whatever keeps a connection from being made, no statement is at fault.
  if (error instanceof UnreachableError) return true;
  const code = codeOf(error);
  if (passing.test(code) || /^(E[A-Z]{4,}|ERR_SSL_)/.test(code)) return true;
  const message = error instanceof Error ? error.message : '';
  return /connection (terminated|ended)|timeout|not queryable|connection error/i.test(message);
}

/** Failures after which the connection goes on: its server answered, and may take the same statement later. */
const answered = /^(0A|3F|40|42|53|55|57014|XX)/;

/** Returns whether an error says that its connection is of no more use, or leads to a server that is the wrong one by now. */
export function isConnectionLost(error: unknown): boolean {
  return isServerGone(error) && !answered.test(codeOf(error));
}

/** Returns whether an error says that a value cannot be kept: a text with a NUL, one too long for an index, no value at all. */
export function isUnkeepable(error: unknown): boolean {
  return /^(22|54|23502)/.test(codeOf(error) ?? '');
}
