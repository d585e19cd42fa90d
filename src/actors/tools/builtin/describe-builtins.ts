import type { JsonObject } from '../../../machines/json.ts';
import { systemClock } from '../../system-clock.ts';
import { builtinToolNames, builtinTools } from './builtin-tools.ts';

/** Description of a builtin tool, independent of an agent's settings. */
export interface BuiltinDescription {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
  /** True if a call may change something, such as a file, or the state of a program or server. */
  changes: boolean;
}

const changing: ReadonlySet<string> = new Set([
  'cli_execute',
  'file_edit',
  'file_write',
  'http_request',
]);

/** Describes every builtin tool with default settings, sorted by name. */
export function describeBuiltins(): BuiltinDescription[] {
  const nowhere = { directory: '/', state: [], code: [], writable: () => [] };
  return builtinTools(builtinToolNames, {
    clock: systemClock(),
    env: {},
    agentDirectory: '/',
    files: nowhere,
    settings: () => ({}),
  }).map(({ name, description, parameters }) => ({
    name,
    description,
    parameters,
    changes: changing.has(name),
  }));
}
