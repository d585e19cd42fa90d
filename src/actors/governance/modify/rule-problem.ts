/** What is wrong with a rule of MODIFY, and where in `security.modify`. */
export interface RuleProblem {
  path: (string | number)[];
  /** One sentence; never a pattern or a value. */
  message: string;
}

/** Takes down what is wrong at a place below the rule being read. */
export type Report = (path: readonly (string | number)[], message: string) => void;
