import type { Tool } from '../../ports/tool.ts';
import type { BuiltinDependencies } from './builtin-tool.ts';
import { cliExecute } from './cli-execute.ts';
import { csvParse } from './csv-parse.ts';
import { datetimeNow } from './datetime-now.ts';
import { fileEdit } from './file-edit.ts';
import { fileRead } from './file-read.ts';
import { fileWrite } from './file-write.ts';
import { globSearch } from './glob-search.ts';
import { grepSearch } from './grep-search.ts';
import { httpRequest } from './http-request.ts';
import { jsonQuery } from './json-query.ts';
import { mathCalculate } from './math-calculate.ts';
import { uuidGenerate } from './uuid-generate.ts';
import { webFetch } from './web-fetch.ts';
import { webSearch } from './web-search.ts';

const factories = new Map<string, (dependencies: BuiltinDependencies) => Tool>([
  ['cli_execute', cliExecute],
  ['csv_parse', csvParse],
  ['datetime_now', datetimeNow],
  ['file_edit', fileEdit],
  ['file_read', fileRead],
  ['file_write', fileWrite],
  ['glob_search', globSearch],
  ['grep_search', grepSearch],
  ['http_request', httpRequest],
  ['json_query', jsonQuery],
  ['math_calculate', mathCalculate],
  ['uuid_generate', uuidGenerate],
  ['web_fetch', webFetch],
  ['web_search', webSearch],
]);

/** Names that `builtin_tools` may list, sorted. */
export const builtinToolNames: readonly string[] = [...factories.keys()].toSorted();

/** Creates the builtin tools with these names, in order. Throws a RangeError for an unknown name. */
export function builtinTools(names: readonly string[], dependencies: BuiltinDependencies): Tool[] {
  return names.map((name) => {
    const make = factories.get(name);
    if (!make) throw new RangeError(`${name} is not a builtin tool`);
    return make(dependencies);
  });
}
