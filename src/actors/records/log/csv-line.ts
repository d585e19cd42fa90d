import { recordedEvent } from './recorded-event.ts';

/** The columns of the log as CSV, in the order of docs/audit-log.md. */
const columns = [
  ...['ts', 'event', 'seq', 'correlation_id', 'task_id', 'workflow_id', 'workflow_execution_id'],
  ...['stage_id', 'step_id', 'invocation_caller', 'org_id', 'workspace_id', 'entity_id'],
  ...['entity_type', 'trace_id', 'span_id', 'fields', 'prev_hash', 'kid', 'sig'],
];

/**
 * Where a spreadsheet would begin a formula: at the start of a cell, after blanks and invisible characters. A spreadsheet
 * whose separator is `;` or a tab also splits within quotes, since they do not stand at the start of its cell.
 */
const formula = /(?=[=+\-@＝＋－＠﹦﹢﹣﹫−])(?<=(?:^|[;\t\r\n])[\s\p{C}"]*)/gu;

/** The header of the log as CSV, with its line break. */
export const csvHeader = csvRow(columns);

/**
 * Converts a line of the log to a row of CSV (RFC 4180) with its line break; `fields` is one column of JSON. A string that
 * a spreadsheet would run as a formula gets an apostrophe before each place where one would begin. Empty for a line without an event.
 */
export function csvLine(line: Uint8Array): string {
  const event = recordedEvent(line);
  return event === null ? '' : csvRow(columns.map((name) => event[name]));
}

/** Returns a row of CSV with its line break; values that are no strings are JSON, and an absent one is an empty cell. */
export function csvRow(values: readonly unknown[]): string {
  return `${values.map(cell).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const safe = text.replace(/^(?=[\t\r])/, "'").replace(formula, "'");
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
