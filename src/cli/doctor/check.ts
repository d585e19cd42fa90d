/** The result of a check. */
export interface Finding {
  status: 'pass' | 'warn' | 'fail';
  message: string;
  /** The remedy. */
  fix?: string;
}

/** A finding and its subject. */
export interface Check extends Finding {
  check: string;
}

/** The agent that the checks look at. */
export interface Subject {
  /** The agent's folder, absolute. */
  directory: string;
  /** The folder of its state. */
  stateFolder: string;
  /** The variables it is configured with, its secrets among them where they could be opened. */
  env: NodeJS.ProcessEnv;
  /** Those of them that its own folder keeps. */
  own: Readonly<Record<string, string | undefined>>;
}
