import { argumentOf, type InputLine, readArgument, schemaOf, unknownType } from './input-line.ts';

/** A problem of a block of arguments, with its position relative to the block. */
export interface BlockProblem {
  reason: string;
  /** Index of the line, and characters before the place in it. */
  line: number;
  at: number;
}

/** The arguments described by a block, with the problems of its unrecognised parts. */
export interface InputBlock {
  parameters: InputLine['parameters'];
  unread: BlockProblem[];
}

/**
 * Converts the block below `**Input:**` to a JSON Schema: a table with a row for each argument, or a list. `null` for
 * any other text.
 */
export function parseInputBlock(lines: readonly string[]): InputBlock | null {
  const [first = ''] = lines;
  if (/^\s*\|/.test(first)) return parseTable(lines);
  return bullet.test(first) ? parseList(lines) : null;
}

const bullet = /^(\s*[-*+]\s+)(?:\*\*)?/;

function parseList(lines: readonly string[]): InputBlock {
  const unread: BlockProblem[] = [];
  const args = lines.flatMap((text, line) => {
    const at = bullet.exec(text)?.[1]?.length;
    // A line without a marker continues the description of the argument above.
    if (at === undefined) return [];
    const { argument, reason } = readArgument(text.slice(at).replaceAll('**', '').trim());
    if (reason !== undefined) unread.push({ reason, line, at });
    return argument === undefined ? [] : [argument];
  });
  return { parameters: schemaOf(args), unread };
}

const columns = {
  name: /^(?:parameter|argument|name|field|input)s?$/i,
  type: /^types?$/i,
  required: /^(?:required|mandatory)\??$/i,
  optional: /^optional\??$/i,
  default: /^defaults?$/i,
};

function parseTable([head = '', rule = '', ...rows]: readonly string[]): InputBlock {
  const titles = cellsOf(head).map(({ text }) => text.replaceAll(/[*_`]/g, ''));
  const place = (column: RegExp) => titles.findIndex((title) => column.test(title));
  const [name, type] = [place(columns.name), place(columns.type)];
  const missing = name === -1 ? 'Parameter' : type === -1 ? 'Type' : null;
  if (missing !== null || !/^\s*\|?[\s|:-]+$/.test(rule)) {
    const reason = `the table has no column ${missing ?? 'heads'}; write | Parameter | Type | Required | Description |`;
    return { parameters: schemaOf([]), unread: [{ reason, line: 0, at: 0 }] };
  }
  const [required, optional, byDefault] = [
    place(columns.required),
    place(columns.optional),
    place(columns.default),
  ];
  const unread: BlockProblem[] = [];
  const args = rows.flatMap((row, index) => {
    const line = index + 2;
    const cells = cellsOf(row);
    const text = (column: number) => cells[column]?.text ?? '';
    const refuse = (reason: string, column: number): [] => {
      unread.push({ reason, line, at: cells[column]?.at ?? 0 });
      return [];
    };
    const written = text(name).replaceAll(/[*`]/g, '').trim();
    if (!/^[A-Za-z_][\w-]*$/.test(written))
      return refuse(`"${written}" is no name of an argument`, name);
    const about = cells.filter(
      ({ text: cell }, column) =>
        ![name, type, required, optional].includes(column) && cell !== '' && cell !== '-',
    );
    const argument = argumentOf(written, text(type), about.map((cell) => cell.text).join('; '));
    if (argument.schema === undefined) return refuse(unknownType(argument), type);
    if (required === -1 && optional === -1) {
      const hasDefault = byDefault !== -1 && !/^(?:|-|–|—|none)$/i.test(text(byDefault));
      return [{ ...argument, isOptional: argument.isOptional || hasDefault }];
    }
    const column = required === -1 ? optional : required;
    const answer = answerOf(text(column));
    if (answer === null)
      return refuse(
        `"${text(column)}" does not say whether ${written} is required; write yes or no`,
        column,
      );
    return [{ ...argument, isOptional: required === -1 ? answer : !answer }];
  });
  return { parameters: schemaOf(args), unread };
}

/** Reads the yes or no at the start of a cell, as in `no (all files)`. */
function answerOf(cell: string): boolean | null {
  if (/^\W*(?:yes|true|required|y)\b|^[✓✅✔]/iu.test(cell)) return true;
  return /^\W*(?:no|false|optional|n)\b|^(?:[-–—✗❌✘]|)$/iu.test(cell) ? false : null;
}

/** Splits a row of a table; an escaped bar belongs to its cell. */
function cellsOf(row: string): { text: string; at: number }[] {
  const cells: { text: string; at: number }[] = [];
  for (const match of row.replace(/\|\s*$/, '').matchAll(/(?:^\s*\||\||^)((?:\\.|[^|\\])*)/g)) {
    const [whole, written = ''] = match;
    const blanks = written.length - written.trimStart().length;
    const at = match.index + whole.length - written.length + blanks;
    cells.push({ text: written.trim().replaceAll('\\|', '|'), at });
  }
  return cells;
}
