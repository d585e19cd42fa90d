import { JSONPathError, query } from 'json-p3';
import { InexactNumberError, readExactJson } from '../../../machines/exact-json.ts';
import type { JsonValue } from '../../../machines/json.ts';
import type { Tool } from '../../ports/tool.ts';
import { builtinTool } from './builtin-tool.ts';
import { type Apart, runApart } from './run-apart.ts';

/** Maximum characters of a result. */
const longest = 1024 * 1024;

/** Returns the values that an RFC 9535 query selects in a JSON text, as a JSON list; runs in a worker. */
function queryJson({ json, path }: { json: string; path: string }): Apart {
  let value: JsonValue;
  try {
    value = readExactJson(json);
  } catch (error) {
    if (error instanceof InexactNumberError) return { problem: `argument json: ${error.message}` };
    return { problem: 'argument json is not JSON' };
  }
  try {
    const text = JSON.stringify(query(path, value as never).values());
    if (text.length <= longest) return { text };
    return { problem: 'what was found is larger than 1 MiB; ask for less' };
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error;
    const [reason] = error.message.split(' (');
    return { problem: `argument path is not an RFC 9535 query: ${reason}` };
  }
}

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
