/** A problem in `service.yaml`, with the position to fix. */
export interface ConfigProblem {
  /** One sentence; never contains a value of the file or environment that may be secret. */
  message: string;
  file: string;
  /** Counted from 1, like `column`. */
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

/** Result of a check for one place of the configuration. */
export interface Finding {
  path: Path;
  /** `{value}` is replaced by the text at `path` as written in the file; values of variables are never shown. */
  message: string;
  severity: 'error' | 'warning';
  /** Other paths that the finding depends on; it is withheld while any of them is invalid. */
  restsOn?: readonly Path[];
}

/** Keys and indexes that lead to a value. */
export type Path = readonly (string | number)[];

/** Creates a finding that prevents start-up. */
export const errorAt = maker('error');

/** Creates a finding that does not prevent start-up. */
export const warningAt = maker('warning');

function maker(severity: Finding['severity']) {
  return (path: Path, message: string, ...restsOn: Path[]): Finding => ({
    path,
    message,
    severity,
    ...(restsOn.length === 0 ? {} : { restsOn }),
  });
}

/** Formats a problem for a terminal: `service.yaml:12:7: message`. */
export function formatProblem(problem: ConfigProblem): string {
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`;
}
