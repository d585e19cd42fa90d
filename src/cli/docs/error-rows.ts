import type { Token, Tokens } from 'marked';
import type { DocPage } from './doc-pages.ts';
import { docSections } from './doc-sections.ts';
import { plainInline } from './plain-inline.ts';

/** The rows of the page of errors about one code, each table under its heading. */
export interface ErrorRows {
  page: DocPage;
  tokens: Token[];
}

/** Finds the rows about a code, a status or an error class, such as `not_found` or `409`; `null` if there is none. */
export function errorRows(pages: readonly DocPage[], code: string): ErrorRows | null {
  const page = pages.find(({ name }) => name === 'errors');
  if (page === undefined) return null;
  const tokens = docSections(page.text).flatMap(({ tokens: [heading, ...below] }) => {
    const tables = below.flatMap((token) => rowsAbout(token, code));
    return tables.length === 0 || heading === undefined ? [] : [heading, ...tables];
  });
  return tokens.length === 0 ? null : { page, tokens };
}

function rowsAbout(token: Token, code: string): Token[] {
  if (token.type !== 'table') return [];
  const table = token as Tokens.Table;
  const rows = table.rows.filter(([first]) => plainInline(cellToken(first)) === code);
  if (rows.length === 0) return [];
  const [heads = '', rule = ''] = table.raw.split('\n');
  const lines = rows.map((row) => `| ${row.map(({ text }) => text).join(' | ')} |`);
  return [{ ...table, rows, raw: `${[heads, rule, ...lines].join('\n')}\n` }];
}

function cellToken(cell: Tokens.TableCell | undefined): Token | undefined {
  return cell === undefined ? undefined : { type: 'text', raw: cell.text, ...cell };
}
