import type { Tool } from '../../ports/tool.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';
import { oneAtATime, writeTextFile } from './write-text-file.ts';

/** Writes a text file in the agent's folder atomically (docs/contract/models.md). */
export function fileWrite({ files }: Pick<BuiltinDependencies, 'files'>): Tool {
  return builtinTool<{ path: string; content: string; overwrite?: boolean }>({
    name: 'file_write',
    description:
      "Writes a whole text file in the agent's folder, with the folders it lies in. Use file_edit to change a part of one.",
    parameters: {
      type: 'object',
      properties: {
        path: {
          type: 'string',
          minLength: 1,
          description: "Path of the file from the agent's folder, such as notes/today.md",
        },
        content: { type: 'string', description: 'All of what the file is to hold' },
        overwrite: {
          type: 'boolean',
          description:
            'Whether a file that is there already is replaced; false, which refuses it, if omitted',
        },
      },
      required: ['path', 'content'],
      additionalProperties: false,
    },
    idempotent: false,
    async run({ path, content, overwrite = false }) {
      const text = content.toWellFormed();
      const file = { path, text, isReplaced: overwrite };
      const isNew = await oneAtATime(() => writeTextFile('file_write', files, file));
      return `${isNew ? 'wrote' : 'replaced'} ${file.path} (${Buffer.byteLength(text)} bytes)`;
    },
  });
}
