import { type Tool, ToolError } from '../../ports/tool.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';
import { readTextFile } from './file-text.ts';

export const usualLines = 2_000;
const mostCharacters = 256 * 1024;

/** Reads lines of a text file in the agent's folder (docs/contract/models.md). */
export function fileRead({ files }: Pick<BuiltinDependencies, 'files'>): Tool {
  return builtinTool<{ path: string; offset?: number; limit?: number }>({
    name: 'file_read',
    description:
      "Reads a text file in the agent's folder and returns its lines as they stand, with a note in brackets at the end when there are more.",
    parameters: {
      type: 'object',
      properties: {
        path: {
          type: 'string',
          minLength: 1,
          description: "Path of the file from the agent's folder, such as data/orders.csv",
        },
        offset: {
          type: 'integer',
          minimum: 1,
          description: 'Number of the first line to return; 1 if omitted',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100_000,
          description: `How many lines to return at most; ${usualLines} if omitted`,
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    idempotent: true,
    async run({ path, offset = 1, limit = usualLines }) {
      const { text } = await readTextFile('file_read', files, path);
      return excerpt('file_read', text, offset, limit);
    },
  });
}

/** Returns the lines of a string from a line number on, as many as fit. */
export function excerpt(tool: string, text: string, first: number, count: number): string {
  const lines = countLines(text);
  if (first > lines && first > 1) {
    const message = `${tool}: the file has ${lines} lines; ask for an earlier one`;
    throw new ToolError(message, { kind: 'invalid arguments' });
  }
  let start = 0;
  for (let line = 1; line < first; line += 1) start = endOfLine(text, start);
  let stop = start;
  let at = first - 1;
  for (; at < Math.min(lines, first - 1 + count); at += 1) {
    const end = endOfLine(text, stop);
    if (stop > start && end - start > mostCharacters) break;
    stop = end;
  }
  const shown = text.slice(start, stop);
  if (shown.length > mostCharacters) {
    return `${shown.slice(0, mostCharacters).toWellFormed()}\n[line ${at} of ${lines} is cut off]`;
  }
  if (at >= lines) return shown;
  const end = shown.endsWith('\n') ? '' : '\n';
  return `${shown}${end}[lines ${first} to ${at} of ${lines}; continue with offset ${at + 1}]`;
}

/** Counts without a list, since a file may have millions of lines. */
function countLines(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at = endOfLine(text, at)) count += 1;
  return Math.max(1, count);
}

/** Returns the end of the line that starts at an index, including its line break. */
function endOfLine(text: string, start: number): number {
  const at = text.indexOf('\n', start);
  return at === -1 ? text.length : at + 1;
}
