/** One check of `holdpoint doctor`. */
export interface CheckJson {
  check: string;
  status: 'pass' | 'warn' | 'fail';
  message: string;
  /** The remedy: a command, or what to do. */
  fix?: string;
}

/** Answer of `GET /api/agents/{id}/doctor`: what `holdpoint doctor --json` prints. */
export interface DoctorJson {
  checks: CheckJson[];
  /** That checks have failed. */
  error?: { code: string; message: string; hint: string | null };
}

/** One figure of an agent, such as how many lines wait to be written. */
export interface FigureJson {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Answer of `GET /api/agents/{id}/figures`. */
export interface FiguresJson {
  figures: FigureJson[];
}
