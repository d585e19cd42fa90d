/** A problem in a file of the agent, at the place to mend. */
export interface SkillProblem {
  message: string;
  /** Path relative to the agent's folder. */
  file: string;
  /** Counted from 1, as is `column`. */
  line: number;
  column: number;
}

/** A line and a column, both counted from 1. */
export interface Position {
  line: number;
  column: number;
}
