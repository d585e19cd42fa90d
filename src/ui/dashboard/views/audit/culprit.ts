import type { LineBreak } from './log-check.ts';

/** The location of a change in a log, as precise as the chain allows. */
export interface Culprit {
  /** Line of the log, from 1. */
  line: number;
  says: string;
  expected?: string;
  actual?: string;
}

/** The neighbouring lines of the first break. */
export interface Surroundings {
  /** True if the next line's link matches the line at which the break was found. */
  nextFollows: boolean;
  /** True if the line before it has a verified signature. */
  previousProven: boolean;
}

/**
 * Determines which line was changed. The chain detects a changed line at the next line, whose link no longer matches.
 * If the line after that matches it, that next line is unchanged, and so the line before it was changed.
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
    const says = 'The log ends here. Later lines existed at the last verification.';
    return { line: line - 1, says, ...difference };
  }
  if (reason !== 'prev_hash does not match the previous line') {
    return { line, says: `${reason}.`, ...difference };
  }
  if (previousProven) {
    return { line, says: 'Earlier lines are missing, or this line was inserted.', ...difference };
  }
  if (nextFollows) {
    const says = 'This line was changed, or later lines were removed.';
    return { line: line - 1, says, ...difference };
  }
  return { line, says: 'This line, or the one before it, was changed.', ...difference };
}
