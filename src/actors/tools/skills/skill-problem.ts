/** A problem in a file of the agent, with the position to fix. */
export interface SkillProblem {
  message: string;
  /** Path relative to the agent's folder. */
  file: string;
  /** Counted from 1, like `column`. */
  line: number;
  column: number;
}

/** A line and a column, both counted from 1. */
export interface Position {
  line: number;
  column: number;
}
