/** The `service.yaml` of an agent: answer of `GET` and `PUT /api/agents/{id}/config`. */
export interface ConfigJson {
  content: string;
  /** What `If-Match` names when it is written. */
  etag: string;
  path: string;
}

/** Body of `PUT /api/agents/{id}/config` and of `POST /api/agents/{id}/config/validate`. */
export interface ConfigRequestJson {
  content: string;
}

/** Answer of `POST /api/agents/{id}/config/validate`, and with 400 of a `PUT` that wrote nothing. */
export interface ConfigCheckJson {
  valid: boolean;
  errors: ProblemJson[];
  warnings: ProblemJson[];
}

/** Something wrong with a file of an agent. */
export interface ProblemJson {
  message: string;
  line: number | null;
  column: number | null;
  /** Keys with dots between them. */
  path: string;
}

/** Answer, with 412, to a `PUT` whose `If-Match` is not that of the file any more. */
export interface ConfigChangedJson {
  error: string;
  content: string;
  etag: string;
}
