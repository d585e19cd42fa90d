import type { Tool } from '../../ports/tool.ts';
import { readableFiles } from './agent-files.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';
import { runApart } from './run-apart.ts';
import type { searchFiles } from './search-files.ts';

const timeout = 10_000;

/** Arguments of the model. */
interface Asked {
  pattern: string;
  path?: string;
  glob?: string;
  ignore_case?: boolean;
  limit?: number;
}

/** Finds lines in the text files of the agent's folder (docs/contract/models.md). */
export function grepSearch({ files }: Pick<BuiltinDependencies, 'files'>): Tool {
  return builtinTool<Asked>({
    name: 'grep_search',
    description:
      "Finds the lines of text files in the agent's folder that match a regular expression (RE2), and returns them as path:number: line.",
    parameters: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 500,
          description: 'The RE2 expression, which is looked for in each line',
        },
        path: {
          type: 'string',
          description: "Folder to look in, from the agent's folder; all of it if omitted",
        },
        glob: {
          type: 'string',
          maxLength: 500,
          description: 'Which files to look in, such as **/*.md; all of them if omitted',
        },
        ignore_case: { type: 'boolean', description: 'false if omitted' },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 2_000,
          description: 'How many lines to return at most; 200 if omitted',
        },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    idempotent: true,
    run: ({ pattern, path = '.', glob = '', ignore_case = false, limit = 200 }, { signal }) =>
      runApart<typeof searchFiles>({
        tool: 'grep_search',
        from: import.meta,
        module: './search-files',
        exported: 'searchFiles',
        timeout,
        signal,
        input: {
          files: readableFiles(files),
          path,
          pattern,
          glob,
          ignoreCase: ignore_case,
          limit,
        },
      }),
  });
}
