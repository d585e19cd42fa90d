import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import type { Apart } from './run-apart.ts';

/** The CSV text and how to parse it. */
export interface CsvReading {
  csv: string;
  delimiter: string;
  header: boolean;
  offset: number;
  limit: number;
}

/** Maximum characters of a result. */
const longest = 1024 * 1024;

/** Parses rows of a CSV text as JSON `{columns, rows, total}`; runs in a worker. */
export function parseCsv({ csv, delimiter, header, offset, limit }: CsvReading): Apart {
  try {
    const records: string[][] = parse(csv, {
      delimiter,
      bom: true,
      relax_column_count: true,
      skip_empty_lines: true,
    });
    const columns = header ? (records.shift() ?? []) : null;
    const rows = records.slice(offset, offset + limit);
    const text = JSON.stringify({ columns, rows, total: records.length });
    if (text.length <= longest) return { text };
    return { problem: 'these rows are larger than 1 MiB; ask for fewer with limit' };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { problem: `argument csv cannot be read as CSV: ${whyOf(error)}` };
  }
}

/** The error's own message may quote the text. */
function whyOf({ code, lines }: CsvError): string {
  const at = typeof lines === 'number' ? ` at line ${lines}` : '';
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return `a quoted value has no end${at}`;
    case 'CSV_INVALID_CLOSING_QUOTE':
    case 'INVALID_OPENING_QUOTE':
      return `a quote is in the middle of a value${at}; double it and quote the value`;
    default:
      return `it is not well-formed${at}`;
  }
}
