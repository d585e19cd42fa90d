/** What a check found. */
export interface Finding {
  status: 'pass' | 'warn' | 'fail';
  message: string;
  /** How to mend it. */
  fix?: string;
}

/** A finding and what was looked at. */
export interface Check extends Finding {
  check: string;
}

/** What the checks look at. */
export interface Subject {
  /** The agent's folder, absolute. */
  directory: string;
  /** The folder of its state. */
  stateFolder: string;
  env: NodeJS.ProcessEnv;
}
