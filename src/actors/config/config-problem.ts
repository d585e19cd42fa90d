/** A problem in `service.yaml`, at the place to mend. */
export interface ConfigProblem {
  /** One sentence; never a value of the file or of the environment that may be secret. */
  message: string;
  file: string;
  /** Counted from 1, as is `column`. */
  line: number;
  column: number;
  /** Keys and indexes joined by dots, such as `security.defer.tools.issue_refund.timeout`; empty for the whole file. */
  path: string;
}

/** A line and a column, both counted from 1. */
export interface Position {
  line: number;
  column: number;
}

/** What a check has to say about one place of the configuration. */
export interface Finding {
  path: Path;
  /** `{value}` stands for the text at `path` as the file has it: what a variable holds is never shown. */
  message: string;
  severity: 'error' | 'warning';
  /** Other places it rests on: while one of them is broken, the finding is withheld. */
  restsOn?: readonly Path[];
}

/** The keys and indexes that lead to a value. */
export type Path = readonly (string | number)[];

/** Prints a problem for a terminal: `service.yaml:12:7: message`. */
export function formatProblem(problem: ConfigProblem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
}
