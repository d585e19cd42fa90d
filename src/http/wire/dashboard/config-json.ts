/** An agent's `service.yaml`: response of `GET` and `PUT /api/agents/{id}/config`. */
export interface ConfigJson {
  content: string;
  /** The `If-Match` value for a write. */
  etag: string;
  path: string;
}

/** Body of `PUT /api/agents/{id}/config` and of `POST /api/agents/{id}/config/validate`. */
export interface ConfigRequestJson {
  content: string;
}

/** Response of `POST /api/agents/{id}/config/validate`, and with 400 of a `PUT` that wrote nothing. */
export interface ConfigCheckJson {
  valid: boolean;
  errors: ProblemJson[];
  warnings: ProblemJson[];
}

/** A problem in one of an agent's files. */
export interface ProblemJson {
  message: string;
  line: number | null;
  column: number | null;
  /** Keys joined with dots. */
  path: string;
}

/** Response with 412 to a `PUT` whose `If-Match` is outdated. */
export interface ConfigChangedJson {
  error: string;
  content: string;
  etag: string;
}
