import type { Tool } from '../../ports/tool.ts';
import { readableFiles } from './agent-files.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';
import type { findFiles } from './find-files.ts';
import { runApart } from './run-apart.ts';

const timeout = 10_000;

/** Finds files in the agent's folder by path (docs/contract/models.md). */
export function globSearch({ files }: Pick<BuiltinDependencies, 'files'>): Tool {
  return builtinTool<{ pattern: string; path?: string; limit?: number }>({
    name: 'glob_search',
    description:
      "Finds files in the agent's folder whose paths match a glob pattern, and returns them one a line. Follows no links.",
    parameters: {
      type: 'object',
      properties: {
        pattern: {
          type: 'string',
          minLength: 1,
          maxLength: 500,
          description: 'Such as **/*.csv or notes/2026-*.md; ** stands for any folders',
        },
        path: {
          type: 'string',
          description: "Folder to look in, from the agent's folder; all of it if omitted",
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 5_000,
          description: 'How many files to return at most; 500 if omitted',
        },
      },
      required: ['pattern'],
      additionalProperties: false,
    },
    idempotent: true,
    run: ({ pattern, path = '.', limit = 500 }, { signal }) =>
      runApart<typeof findFiles>({
        tool: 'glob_search',
        from: import.meta,
        module: './find-files',
        exported: 'findFiles',
        timeout,
        signal,
        input: { files: readableFiles(files), path, pattern, limit },
      }),
  });
}
