/** Limits of a response: times in milliseconds, size in bytes after decoding. */
export interface EgressLimits {
  /** From the request to the end of the response headers. */
  headers: number;
  /** Between two chunks of the body. */
  idle: number;
  /** From the first hop to the last byte; `null` for no limit. */
  total: number | null;
  /** `null` for no limit. */
  bytes: number | null;
}

/** Limits of a tool's request. */
export const toolLimits: EgressLimits = {
  headers: 10_000,
  idle: 10_000,
  total: 30_000,
  bytes: 10 * 1024 * 1024,
};

/** Limits of a request whose caller sets its own, such as a model that streams for minutes. */
export const patientLimits: EgressLimits = {
  headers: 300_000,
  idle: 300_000,
  total: null,
  bytes: null,
};

/** Time limits for opening a connection, in milliseconds. */
export interface DialLimits {
  lookup: number;
  connect: number;
}

/** Two seconds for DNS, five seconds for the connection. */
export const dialLimits: DialLimits = { lookup: 2_000, connect: 5_000 };
