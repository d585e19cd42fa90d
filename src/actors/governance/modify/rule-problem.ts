/** A problem of a MODIFY rule, and its path in `security.modify`. */
export interface RuleProblem {
  path: (string | number)[];
  /** One sentence; never contains a pattern or a value. */
  message: string;
}

/** Reports a problem at a path relative to the rule being compiled. */
export type Report = (path: readonly (string | number)[], message: string) => void;
