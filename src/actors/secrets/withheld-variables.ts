import { randomUUID } from 'node:crypto';

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables in which a text stands for what a folder is not given. */
export interface WithheldVariables {
  env: NodeJS.ProcessEnv;
  /** True for what was made of a variable that is withheld. */
  isWithheld: (value: unknown) => boolean;
}

/**
 * Returns the variables with which the settings of a folder are read before anything is sent where they lead: those that
 * the folder itself keeps, and in the place of each other one of this process a text that nobody can know.
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
