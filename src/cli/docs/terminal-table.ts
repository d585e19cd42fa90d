import type { Output } from '../output.ts';
import { joined, type Piece, wrapWords } from './wrap-words.ts';

/** How a table is shown in a terminal. */
export interface TableOptions {
  /** Characters of a line. Code is never broken. */
  width: number;
  colours: Output['colours'];
}

/** Blanks between two columns. */
const gap = '  ';

/** Minimum width of the last column; a table that leaves less is shown as a list. */
const narrowest = 24;

/** Maximum share of the width for a column that is not the last. */
const widestShare = 0.4;

/** Renders a table, its header first: in columns if they fit, otherwise as a list with one entry for each row. */
export function tableLines(rows: readonly Piece[][][], options: TableOptions): string[] {
  const widths = widthsOf(rows, options.width);
  return widths === null ? listOf(rows, options) : columnsOf(rows, widths, options);
}

/** Returns the widths of the columns, of which the last gets the rest; `null` if they do not fit. */
function widthsOf(rows: readonly Piece[][][], width: number): number[] | null {
  const count = rows[0]?.length ?? 0;
  const widest = Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => [...joined(row[column] ?? [])].length)),
  );
  const most = Math.floor(width * widestShare);
  const first = widest.slice(0, -1).map((needed) => Math.min(needed, most));
  const taken = first.reduce((sum, one) => sum + one + gap.length, 0);
  const left = width - taken;
  const last = Math.min(widest.at(-1) ?? 0, left);
  return left < Math.min(narrowest, widest.at(-1) ?? 0) ? null : [...first, last];
}

function columnsOf(
  rows: readonly Piece[][][],
  widths: readonly number[],
  { colours }: TableOptions,
): string[] {
  const [header = [], ...body] = rows;
  const titles = header.map((cell) => cell.map(({ text }) => ({ text, style: colours.bold })));
  const rule = colours.dim(widths.map((width) => '─'.repeat(width)).join(gap));
  return [...rowLines(titles, widths), rule, ...body.flatMap((row) => rowLines(row, widths))];
}

/** Lays the cells of a row side by side. */
function rowLines(row: readonly Piece[][], widths: readonly number[]): string[] {
  const cells = widths.map((width, column) => {
    const shown = wrapWords(row[column] ?? [], width);
    const plain = wrapWords((row[column] ?? []).map(withoutStyle), width);
    return { width, shown, plain };
  });
  const height = Math.max(...cells.map(({ shown }) => shown.length));
  return Array.from({ length: height }, (_, at) =>
    cells
      .map(({ width, shown, plain }) => {
        const blanks = width - [...(plain[at] ?? '')].length;
        return (shown[at] ?? '') + ' '.repeat(Math.max(0, blanks));
      })
      .join(gap)
      .trimEnd(),
  );
}

function withoutStyle({ text }: Piece): Piece {
  return { text, style: String };
}

function listOf(rows: readonly Piece[][][], { width, colours }: TableOptions): string[] {
  const [header = [], ...body] = rows;
  return body.flatMap((row) => {
    const [first = [], ...others] = row;
    const head = first.map(({ text }) => ({ text, style: colours.bold }));
    const rest = others.flatMap((cell, index) => {
      if (joined(cell).trim() === '') return [];
      const name = { text: `${joined(header[index + 1] ?? [])}: `, style: colours.dim };
      return wrapWords([name, ...cell], width - 4).map((line) => `    ${line}`);
    });
    return [...wrapWords(head, width), ...rest, ''];
  });
}
