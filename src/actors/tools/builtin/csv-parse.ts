import type { Tool } from '../../ports/tool.ts';
import { builtinTool } from './builtin-tool.ts';
import type { CsvReading, parseCsv } from './parse-csv.ts';
import { runApart } from './run-apart.ts';

const timeout = 5_000;

/** Parses the rows of a CSV text (docs/contract/models.md). */
export function csvParse(): Tool {
  return builtinTool<Pick<CsvReading, 'csv'> & Partial<CsvReading>>({
    name: 'csv_parse',
    description:
      'Reads a CSV text (RFC 4180) and returns JSON {columns, rows, total}: the names of the columns, the rows as lists of texts in their order, and how many rows the text has.',
    parameters: {
      type: 'object',
      properties: {
        csv: { type: 'string', description: 'The CSV text' },
        delimiter: {
          type: 'string',
          minLength: 1,
          maxLength: 1,
          description: 'The separator of two values; a comma if omitted',
        },
        header: {
          type: 'boolean',
          description: 'Whether the first row names the columns; true if omitted',
        },
        offset: {
          type: 'integer',
          minimum: 0,
          description: 'How many rows to skip; 0 if omitted',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 10_000,
          description: 'How many rows to return at most; 1000 if omitted',
        },
      },
      required: ['csv'],
      additionalProperties: false,
    },
    idempotent: true,
    run: ({ csv, delimiter = ',', header = true, offset = 0, limit = 1_000 }, { signal }) =>
      runApart<typeof parseCsv>({
        tool: 'csv_parse',
        from: import.meta,
        module: './parse-csv',
        exported: 'parseCsv',
        timeout,
        signal,
        input: { csv, delimiter, header, offset, limit },
      }),
  });
}
