import { type Tool, ToolError } from '../../ports.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';
import { readTextFile } from './file-text.ts';

const usualLines = 2_000;
const mostCharacters = 256 * 1024;

/** Reads lines of a text file in the agent's folder (contract section 13). */
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
          description: 'Number of the first line to return; 1 if left out',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100_000,
          description: `How many lines to return at most; ${usualLines} if left out`,
        },
      },
      required: ['path'],
      additionalProperties: false,
    },
    idempotent: true,
    async run({ path, offset = 1, limit = usualLines }) {
      const { text } = await readTextFile('file_read', files, path);
      return excerpt(text, offset, limit);
    },
  });
}

/** Lines of a text from the first one asked for, as many as fit. */
function excerpt(text: string, first: number, count: number): string {
  const lines = text.split(/(?<=\n)/);
  if (first > lines.length && first > 1) {
    const message = `file_read: the file has ${lines.length} lines; ask for an earlier one`;
    throw new ToolError(message, { kind: 'invalid arguments' });
  }
  let shown = '';
  let at = first - 1;
  for (; at < Math.min(lines.length, first - 1 + count); at += 1) {
    const line = lines[at] ?? '';
    if (shown !== '' && shown.length + line.length > mostCharacters) break;
    shown += line;
  }
  if (shown.length > mostCharacters) {
    return `${shown.slice(0, mostCharacters).toWellFormed()}\n[line ${at} of ${lines.length} is cut off]`;
  }
  if (at >= lines.length) return shown;
  const end = shown.endsWith('\n') ? '' : '\n';
  return `${shown}${end}[lines ${first} to ${at} of ${lines.length}; go on with offset ${at + 1}]`;
}
