import type { ClientConfig } from 'pg';

/** Parameters of a connection. */
export interface ConnectionParts {
  url: string;
  /** Default schema of the tables. */
  schema: string;
  /** Returns the parser for a type by its OID. */
  parserOf: (oid: number, format?: string) => unknown;
}

/** Statement timeout in milliseconds; the lock timeout is shorter. */
const statementPatience = 10_000;

/** Timeout of idle transactions in milliseconds; other daemons wait for their locks. */
const idlePatience = statementPatience / 2;

/** Time after which an unresponsive server counts as lost, in milliseconds. */
const answerPatience = statementPatience + 2_000;

/** With these settings PostgreSQL detects a disconnected client within six seconds and releases its locks. */
const settings = (schema: string): string =>
  Object.entries({
    search_path: schema,
    statement_timeout: statementPatience,
    lock_timeout: statementPatience - 2_000,
    idle_in_transaction_session_timeout: idlePatience,
    tcp_keepalives_idle: 3,
    tcp_keepalives_interval: 1,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 6_000,
  })
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');

/** OID of bigint, which the driver returns as text; all stored values fit into a number. */
const bigint = 20;

/** Creates the driver's connection settings. */
export function connectionConfig({ url, schema, parserOf }: ConnectionParts): ClientConfig {
  return {
    connectionString: withStrictTls(url),
    options: settings(schema),
    application_name: 'holdpoint',
    connectionTimeoutMillis: 5_000,
    query_timeout: answerPatience,
    keepAlive: true,
    keepAliveInitialDelayMillis: 3_000,
    types: {
      getTypeParser: ((oid: number, format: never) =>
        oid === bigint ? Number : parserOf(oid, format)) as never,
    },
  };
}

/**
 * The driver currently verifies certificates in all of these modes, but plans to stop doing so for all except
 * `verify-ca`.
 */
const looserModes = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/;

/** Returns a URL with certificate verification wherever TLS is requested, unless it sets `uselibpqcompat=true`. */
export function withStrictTls(url: string): string {
  if (/[?&]uselibpqcompat=true(?=[&#]|$)/.test(url)) return url;
  return url.replace(looserModes, '$1verify-full');
}
