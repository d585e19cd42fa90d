import type { ClientConfig } from 'pg';

/** What a connection is opened with. */
export interface ConnectionParts {
  url: string;
  /** The schema whose tables are meant by their names. */
  schema: string;
  /** How values of a type are read, by its number. */
  parserOf: (oid: number, format?: string) => unknown;
}

/** The time that a statement may take, in milliseconds; a lock is given up sooner. */
const statementPatience = 10_000;

/** The time after which PostgreSQL gives up a transaction of which it hears nothing, in milliseconds: others wait for its locks. */
const idlePatience = statementPatience / 2;

/** The time after which a server that does not answer at all is taken for gone, in milliseconds. */
const answerPatience = statementPatience + 2_000;

/** PostgreSQL tells of a client that is cut off after at most six seconds, and lets go of its locks. */
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

/** The numbers of PostgreSQL that a driver reads as text: all that are kept here fit into a number. */
const bigint = 20;

/** Puts together what the driver opens a connection with. */
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

/** The driver checks certificates for all of these, and means to give that up for all but the last. */
const looserModes = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/;

/** Returns a URL whose TLS checks certificates wherever it is asked for, unless it names the looser ways of libpq. */
export function withStrictTls(url: string): string {
  if (/[?&]uselibpqcompat=true(?=[&#]|$)/.test(url)) return url;
  return url.replace(looserModes, '$1verify-full');
}
