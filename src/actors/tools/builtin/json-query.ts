import type { Tool } from '../../ports/tool.ts';
import { builtinTool } from './builtin-tool.ts';
import type { queryJson } from './query-json.ts';
import { runApart } from './run-apart.ts';

const timeout = 5_000;

/** Selects values of a JSON text with an RFC 9535 query (docs/contract/models.md). */
export function jsonQuery(): Tool {
  return builtinTool<{ json: string; path: string }>({
    name: 'json_query',
    description:
      'Takes values out of a JSON text with a JSONPath query (RFC 9535) and returns a JSON list of what it selects.',
    parameters: {
      type: 'object',
      properties: {
        json: { type: 'string', description: 'The JSON text to look in' },
        path: {
          type: 'string',
          maxLength: 1_000,
          description:
            'The query, beginning with $, such as $.orders[?@.total > 100].id or $..name; filters know length(), count(), match(), search() and value()',
        },
      },
      required: ['json', 'path'],
      additionalProperties: false,
    },
    idempotent: true,
    run: ({ json, path }, { signal }) =>
      runApart<typeof queryJson>({
        tool: 'json_query',
        from: import.meta,
        module: './query-json',
        exported: 'queryJson',
        timeout,
        signal,
        input: { json, path },
      }),
  });
}
