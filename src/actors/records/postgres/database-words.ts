/** Meaning of a driver error, matched by its code and message. */
type Words = [when: RegExp, reason: string, remedy: string];

/** Context of the failed operation. */
export interface Tried {
  /** The variable that holds the URL. */
  variable: string;
  schema: string;
  /** True if there was no connection. */
  isOutside: boolean;
}

/** Lists driver errors with their meaning and remedy; the first match wins. */
export function databaseWords({ variable, schema, isOutside }: Tried): Words[] {
  const database = `the database of ${variable}`;
  return [
    [
      /^ECONNREFUSED/,
      `${database} cannot be reached, since no server listens at its address`,
      `start PostgreSQL, or correct host and port in ${variable}`,
    ],
    [
      /^(ENOTFOUND|EAI_AGAIN)/,
      `${database} cannot be reached, since the name of its host leads nowhere`,
      `correct the host in ${variable}`,
    ],
    [
      /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)|timeout e/,
      `${database} cannot be reached, since it does not answer`,
      `check the way there, or correct host and port in ${variable}`,
    ],
    [
      /^(SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|CERT_(UNTRUSTED|SIGNATURE))/,
      `${database} presents a certificate of an unknown authority`,
      `add sslrootcert=/path/of/ca.pem with the certificate of that authority to ${variable}`,
    ],
    [
      /^ERR_TLS_CERT_ALTNAME/,
      `the certificate of ${database} names another host than the URL`,
      `write the host in ${variable} as the certificate has it, or give the server one for that host`,
    ],
    [
      /^CERT_(HAS_EXPIRED|NOT_YET_VALID)/,
      `the certificate of ${database} is not valid today`,
      'renew it at the server, or set the clock of this machine right',
    ],
    [
      /does not support SSL/,
      `${database} does not accept TLS, which its URL requires`,
      `set ssl = on at the server, or sslmode=disable in ${variable} on a network of your own`,
    ],
    [
      /^(CERT|ERR_TLS|ERR_SSL|ERR_OSSL|EPROTO)|SSL connection/,
      `${database} cannot be reached over TLS, which its URL requires`,
      `correct sslmode and the certificates in ${variable}`,
    ],
    [
      /^(ENOENT|EACCES)/,
      `${database} cannot be reached, since a file or a socket that its URL names cannot be opened`,
      `correct ${variable}, or the permissions of that file`,
    ],
    [
      /^28000.*pg_hba/,
      `${database} refuses this user, address and kind of connection`,
      `add a line to its pg_hba.conf, or sslmode=verify-full to ${variable} where the server asks for TLS`,
    ],
    [
      /^28|SASL|password must be/,
      `${database} refuses the user and password in it`,
      `correct them in ${variable} and restart the daemon, or in the file of PGPASSFILE, which is read with each connection`,
    ],
    [
      /^3D000/,
      `there is no database of the name that ${variable} has`,
      `create it on the server, or correct the name in ${variable}`,
    ],
    ...(isOutside ? [noEntry(variable)] : []),
    [
      /^(42501|3F000)/,
      `the user of ${variable} lacks rights on the schema ${schema}`,
      `let that user create schemas in the database, or make it the owner of ${schema} and ${schema}_jobs`,
    ],
    [
      /^25006/,
      `${database} is read-only, for example a standby`,
      `name the primary in ${variable}, or set default_transaction_read_only = off`,
    ],
    [/^53100/, `${database} has no room left on its disk`, 'free space there, or add some'],
    [
      /^53300/,
      `${database} has no connection left`,
      'raise max_connections of PostgreSQL, or lower store.pool',
    ],
    [
      /^(57P|08|ECONN|EPIPE)|connection (terminated|ended)|not queryable/i,
      `${database} ended the connection`,
      'look at the log of PostgreSQL, then try again',
    ],
    [
      /^(55P03|57014)/,
      `${database} did not answer in time`,
      'try again once others no longer hold its tables',
    ],
  ];
}

function noEntry(variable: string): Words {
  return [
    /^42501/,
    `the user of ${variable} may not connect to the database there`,
    `grant it CONNECT, or correct the database in ${variable}`,
  ];
}
