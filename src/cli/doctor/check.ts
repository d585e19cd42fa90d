/** The result of a check. */
export interface Finding {
  status: 'pass' | 'warn' | 'fail';
  message: string;
  /** The suggested fix. */
  fix?: string;
}

/** A finding and the name of its check. */
export interface Check extends Finding {
  check: string;
}

/** The agent to check. */
export interface Subject {
  /** Absolute path of the agent's folder. */
  directory: string;
  /** The agent's state folder. */
  stateFolder: string;
  /** The agent's variables, including its secrets if they could be decrypted. */
  env: NodeJS.ProcessEnv;
  /** The variables stored in the agent's own folder. */
  own: Readonly<Record<string, string | undefined>>;
}
