/**
 * Lines of an agent's audit log: `GET /api/agents/{id}/audit?limit=&before=&event=&task=&decision=&verified=`. All of them
 * are at `GET /api/agents/{id}/audit/lines?from=&to=`, byte for byte.
 */
export interface AuditJson {
  /** Lines byte for byte, newest last; `seq` is the number of each in the log, from 1. */
  events: { seq: number; line: string }[];
  /** Number of the lowest line that was looked at for them. */
  first: number;
  /** Number of the last line of the log. */
  total: number;
  /** What was removed when the oldest files were; `null` for a log that is whole. */
  pruned: { count: number; head: string } | null;
  /** Left out where `verified=false` was asked for. */
  verified?: AuditVerdictJson;
  /** Keys of the agent, as a JWKS holds them. */
  keys: unknown[];
  /** The current file, as `service.yaml` names it. */
  path: string;
  /** Every file that is there, oldest first. */
  files: string[];
}

/** Whether the chain of a log holds. */
export interface AuditVerdictJson {
  ok: boolean;
  events: number;
  problem?: string;
  line?: number;
}

/** Answer of `GET /api/agents/{id}/logs?lines=`: the end of `serve.log` as plain text. */
export interface LogsJson {
  lines: string[];
}
