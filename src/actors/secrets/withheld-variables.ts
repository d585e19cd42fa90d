import { randomUUID } from 'node:crypto';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables with placeholders for values that a folder must not receive. */
export interface WithheldVariables {
  env: NodeJS.ProcessEnv;
  /** True if a value was made from a withheld variable. */
  isWithheld: (value: unknown) => boolean;
}

/**
 * Returns the variables for reading a folder's settings before anything is sent to the hosts they name: the folder's
 * own variables, with an unguessable placeholder for each variable of this process.
 */
export function withholdVariables(own: Environment, env: Environment): WithheldVariables {
  const mark = `withheld-${randomUUID()}`;
  const marked: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) marked[name] = mark;
  return {
    env: { ...marked, ...own },
    isWithheld: (value) => JSON.stringify(value ?? null).includes(mark),
  };
}
