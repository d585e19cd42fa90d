/**
 * Lines of an agent's audit log: `GET /api/agents/{id}/audit?limit=&before=&event=&task=&decision=&from=&to=&verified=`.
 * The unmodified lines are at `GET /api/agents/{id}/audit/lines?from=&to=`.
 */
export interface AuditJson {
  /** Unmodified lines, newest last; `seq` is the line's number in the log, from 1. */
  events: { seq: number; line: string }[];
  /** Number of the lowest line that was searched; lines outside the range of time count as searched. */
  first: number;
  /** Number of the log's last line. */
  total: number;
  /** Count and last hash of the lines removed with the oldest files; `null` for a complete log. */
  pruned: { count: number; head: string } | null;
  /** Absent if `verified=false` was requested. */
  verified?: AuditVerdictJson;
  /** The agent's keys in JWKS format. */
  keys: unknown[];
  /** The current file named by `service.yaml`. */
  path: string;
  /** All existing files, oldest first. */
  files: string[];
}

/** The result of verifying a log's chain. */
export interface AuditVerdictJson {
  ok: boolean;
  events: number;
  problem?: string;
  line?: number;
}

/** Response of `GET /api/agents/{id}/logs?lines=`: the end of `serve.log` as plain text. */
export interface LogsJson {
  lines: string[];
}
