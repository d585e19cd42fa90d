import { causesOf } from '../../machines/error-code.ts';
import { ConflictError } from '../records/records.ts';

/** True for a change that lost a conflict, or followed one that did. */
export function isConflict(error: unknown): boolean {
  return causesOf(error).some((cause) => cause instanceof ConflictError);
}
