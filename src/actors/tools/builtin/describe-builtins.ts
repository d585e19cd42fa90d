import type { JsonObject } from '../../../machines/json.ts';
import { systemClock } from '../../clock.ts';
import { builtinToolNames, builtinTools } from './builtin-tools.ts';

/** What a builtin tool is, before an agent has set it up. */
export interface BuiltinDescription {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
  /** True when a call may change something: a file, or whatever a program or a server does with it. */
  changes: boolean;
}

const changing: ReadonlySet<string> = new Set([
  'cli_execute',
  'file_edit',
  'file_write',
  'http_request',
]);

/** Describes every builtin tool as an agent without settings of its own has it, sorted by name. */
export function describeBuiltins(): BuiltinDescription[] {
  const nowhere = { directory: '/', state: [], code: [], writable: () => [] };
  return builtinTools(builtinToolNames, {
    ...{ clock: systemClock(), env: {}, agentDirectory: '/', files: nowhere },
    settings: () => ({}),
  }).map(({ name, description, parameters }) => ({
    ...{ name, description, parameters },
    changes: changing.has(name),
  }));
}
