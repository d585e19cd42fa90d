/** One check of `holdpoint doctor`. */
export interface CheckJson {
  check: string;
  status: 'pass' | 'warn' | 'fail';
  message: string;
  /** The fix: a command or an instruction. */
  fix?: string;
}

/** Response of `GET /api/agents/{id}/doctor`: the output of `holdpoint doctor --json`. */
export interface DoctorJson {
  checks: CheckJson[];
  /** Set if checks have failed. */
  error?: { code: string; message: string; hint: string | null };
}

/** One metric of an agent, such as the number of unwritten log lines. */
export interface FigureJson {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Response of `GET /api/agents/{id}/figures`. */
export interface FiguresJson {
  figures: FigureJson[];
}
