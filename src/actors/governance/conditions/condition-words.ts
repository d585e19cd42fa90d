/** Types of the members of `caller` in conditions; absent members are absent, not empty. */
export const callerTypes = {
  user_id: 'string',
  email: 'string',
  org_id: 'string',
  groups: 'list<string>',
  claims: 'map<string, dyn>',
  acr: 'string',
} as const;

/** Types of the members of `task` in conditions. */
export const taskTypes = {
  id: 'string',
  surface: 'string',
  session: 'string',
  workflow_id: 'string',
  workflow_execution_id: 'string',
  stage_id: 'string',
  step_id: 'string',
  invocation_caller: 'string',
  depth: 'int',
} as const;

/** Types of the members of `call` in conditions. */
export const callTypes = { cwd: 'string', client: 'string' } as const;

/** Types of the members of a limit in conditions. */
export const limitTypes = { left: 'double' } as const;

/** A name that conditions can use, for completion. */
export interface ConditionWord {
  /** With dots for members, such as `caller.user_id`; a function ends with `(`. */
  word: string;
  type: string;
  about: string;
}

/** Lists the variables and functions of conditions, without the arguments of a tool. */
export function conditionWords(
  environment: readonly string[],
  limits: readonly string[] = [],
): ConditionWord[] {
  return [
    { word: 'args', type: 'map', about: 'The arguments of the call.' },
    { word: 'tool', type: 'string', about: 'The name of the tool.' },
    { word: 'now', type: 'timestamp', about: 'The time of the decision.' },
    {
      word: 'environment',
      type: 'map',
      about: 'Variables that security.policy.environment names.',
    },
    ...environment.map((name) => ({
      ...{ word: `environment.${name}`, type: 'string', about: 'A variable of the daemon.' },
    })),
    { word: 'caller', type: 'map', about: 'The verified caller; absent members are absent.' },
    ...members('caller', callerTypes),
    { word: 'task', type: 'map', about: 'The task of the call.' },
    ...members('task', taskTypes),
    { word: 'call', type: 'map', about: 'What the program of a hold states of its call.' },
    {
      ...{ word: 'call.cwd', type: callTypes.cwd },
      about: 'The folder in which the call works; absent if unknown.',
    },
    {
      ...{ word: 'call.client', type: callTypes.client },
      about: 'The coding agent whose hook asks, such as "codex"; absent without a hook.',
    },
    { word: 'history', type: 'History', about: 'The calls of this session.' },
    { word: 'history.count(', type: 'int', about: 'count(tool): number of earlier calls.' },
    { word: 'history.sum(', type: 'double', about: 'sum(tool, path): sum of an argument.' },
    { word: 'history.last(', type: 'map', about: 'last(tool): arguments of the last call.' },
    { word: 'history.labels', type: 'list<string>', about: 'Labels of the session.' },
    ...limits.map((name) => ({
      ...{ word: `limits.${name}.left`, type: limitTypes.left },
      about: 'What is left of the limit for this call.',
    })),
    { word: 'path', type: 'Path', about: 'Functions on paths.' },
    {
      word: 'path.under(',
      type: 'bool',
      about: 'under(path, folder): whether an absolute path is the folder or below it.',
    },
    { word: 'has(', type: 'bool', about: 'has(a.b): whether a member is present.' },
    { word: 'size(', type: 'int', about: 'Length of a string, list or map.' },
    { word: 'int(', type: 'int', about: 'Converts to a whole number.' },
    { word: 'double(', type: 'double', about: 'Converts to a number with decimals.' },
    { word: 'string(', type: 'string', about: 'Converts to a string.' },
    { word: 'timestamp(', type: 'timestamp', about: 'Reads an RFC 3339 time.' },
    { word: 'duration(', type: 'duration', about: 'Reads a duration such as "1h".' },
  ];
}

function members(of: string, types: Readonly<Record<string, string>>): ConditionWord[] {
  return Object.entries(types).map(([name, type]) => ({ word: `${of}.${name}`, type, about: '' }));
}
