import type { LineBreak } from './log-check.ts';

/** Where a log was changed, as exactly as it can be told. */
export interface Culprit {
  /** Line of the log, from 1. */
  line: number;
  says: string;
  expected?: string;
  actual?: string;
}

/** What the lines around the first break say of it. */
export interface Surroundings {
  /** The next line follows from the one at which the break was found. */
  nextFollows: boolean;
  /** The line before it carries a signature that was checked. */
  previousProven: boolean;
}

/**
 * Says which line was changed. A chain shows a changed line at the next one, whose link no longer fits; where the line
 * after that goes on from it, it is itself as it was written, so that the line before it is not.
 */
export function culpritOf(
  { line, reason, expected, actual }: LineBreak,
  { nextFollows, previousProven }: Surroundings,
): Culprit {
  const difference = {
    ...(expected === undefined ? {} : { expected }),
    ...(actual === undefined ? {} : { actual }),
  };
  if (reason === 'the log ends before the kept checkpoint') {
    const says = 'The log ends here; lines after this one were there when it was last verified.';
    return { line: line - 1, says, ...difference };
  }
  if (reason !== 'prev_hash does not match the previous line') {
    return { line, says: `${reason}.`, ...difference };
  }
  if (previousProven) {
    return { line, says: 'Lines before this one are missing, or it was put here.', ...difference };
  }
  if (nextFollows) {
    const says = 'This line was changed after it was written, or lines after it were removed.';
    return { line: line - 1, says, ...difference };
  }
  return { line, says: 'This line, or the one before it, was changed.', ...difference };
}
