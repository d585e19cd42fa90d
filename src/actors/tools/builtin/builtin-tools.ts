import type { Tool } from '../../ports.ts';
import type { BuiltinDependencies } from './builtin-tool.ts';
import { datetimeNow } from './datetime-now.ts';
import { httpRequest } from './http-request.ts';
import { uuidGenerate } from './uuid-generate.ts';

const factories = new Map<string, (dependencies: BuiltinDependencies) => Tool>([
  ['datetime_now', datetimeNow],
  ['http_request', httpRequest],
  ['uuid_generate', uuidGenerate],
]);

/** The names that `builtin_tools` may list, sorted. */
export const builtinToolNames: readonly string[] = [...factories.keys()].toSorted();

/** Makes the builtin tools of these names, in their order. Throws a RangeError for an unknown name. */
export function builtinTools(names: readonly string[], dependencies: BuiltinDependencies): Tool[] {
  return names.map((name) => {
    const make = factories.get(name);
    if (!make) throw new RangeError(`${name} is not a builtin tool`);
    return make(dependencies);
  });
}
