import type { ConfigProblem, Finding } from './config-problem.ts';
import type { Complaint, Tree } from './read-tree.ts';

/** A finding of a check, or a complaint about the text, which has its own position. */
export type Placeable = (Finding | Complaint) & {
  /** True if the key is at fault, not its value. */
  isKey?: boolean;
};

/** Adds file positions to findings, removes duplicates and sorts them in the order of the file. */
export function placeFindings(
  findings: readonly Placeable[],
  tree: Tree,
  file: string,
): { problems: ConfigProblem[]; warnings: ConfigProblem[] } {
  const placed = (severity: Finding['severity']) =>
    inOrder(
      findings
        .filter((finding) => finding.severity === severity)
        .map((finding) => place(finding, tree, file)),
    );
  return { problems: placed('error'), warnings: placed('warning') };
}

function place(finding: Placeable, tree: Tree, file: string): ConfigProblem {
  const { path, message } = finding;
  const { line, column } =
    'line' in finding ? finding : finding.isKey ? tree.locateKey(path) : tree.locate(path);
  const quoted = message.replaceAll('{value}', () => tree.textAt(path));
  return { message: quoted, file, line, column, path: path.join('.') };
}

function inOrder(problems: readonly ConfigProblem[]): ConfigProblem[] {
  const unique = new Map(
    problems.map((problem) => [`${problem.line}:${problem.column}:${problem.message}`, problem]),
  );
  return [...unique.values()].toSorted((a, b) => a.line - b.line || a.column - b.column);
}
