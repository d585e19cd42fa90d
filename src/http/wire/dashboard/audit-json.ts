/** The end of an agent's audit log: `GET /api/agents/{id}/audit?limit=&before=`. */
export interface AuditJson {
  /** Lines byte for byte, newest last; `seq` counts them from 1. */
  events: { seq: number; line: string }[];
  /** Line number of the first of them. */
  first: number;
  total: number;
  verified: AuditVerdictJson;
  /** Keys of the agent, as a JWKS holds them. */
  keys: unknown[];
  path: string;
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
