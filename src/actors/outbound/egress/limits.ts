/** How long an answer may take, in milliseconds, and how long it may be, in bytes once decoded. */
export interface EgressLimits {
  /** From the request to the end of the response's headers. */
  headers: number;
  /** Between two parts of the body. */
  idle: number;
  /** From the first hop to the last byte; `null` for no limit. */
  total: number | null;
  /** `null` for no limit. */
  bytes: number | null;
}

/** What the request of a tool may take. */
export const toolLimits: EgressLimits = {
  headers: 10_000,
  idle: 10_000,
  total: 30_000,
  bytes: 10 * 1024 * 1024,
};

/** What a request may take whose caller sets its own limits, such as a model that streams for minutes. */
export const patientLimits: EgressLimits = {
  headers: 300_000,
  idle: 300_000,
  total: null,
  bytes: null,
};

/** How long opening a connection may take, in milliseconds. */
export interface DialLimits {
  lookup: number;
  connect: number;
}

/** Two seconds for the names, five for the connection. */
export const dialLimits: DialLimits = { lookup: 2_000, connect: 5_000 };
