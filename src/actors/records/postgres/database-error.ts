import { causesOf, codeOf } from '../../../machines/error-code.ts';
import { StoreError } from '../store/store-error.ts';

/** A database that cannot be used: what is wrong and what to do, neither of which says an address or a password. */
export class DatabaseError extends StoreError {
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string, cause?: unknown) {
    super(`${reason}; ${remedy}`, { cause });
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** How the parts of an address are called in a sentence. */
interface Named {
  /** The variable with the URL. */
  variable?: string | undefined;
  schema: string;
}

/** What an error of the driver says, given its code and its words. */
type Words = [when: RegExp, reason: string, remedy: string];

/** Puts an error of the driver into a sentence that says what to do; one of ours stays as it is. */
export function databaseError(
  error: unknown,
  { variable = 'the variable of store.url_env', schema }: Named,
): StoreError {
  if (error instanceof StoreError) return error;
  // An error of ours around it says less.
  const cause = causesOf(error).findLast((each) => codeOf(each) !== '') ?? error;
  const code = codeOf(cause);
  const said = `${code} ${cause instanceof Error ? cause.message : ''}`;
  const found = wordsFor(variable, schema).find(([when]) => when.test(said));
  if (found !== undefined) return new DatabaseError(found[1], found[2], error);
  // What could hold an address is left out.
  const which = /:\/\/|@/.test(said) ? code : said.trim();
  const why = which === '' ? '' : ` (${which})`;
  return new DatabaseError(
    `the database of ${variable} cannot be used${why}`,
    'look at the log of PostgreSQL, then try again',
    error,
  );
}

function wordsFor(variable: string, schema: string): Words[] {
  const database = `the database of ${variable}`;
  return [
    [
      /^ECONNREFUSED/,
      `${database} cannot be reached, since nobody listens at its address`,
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
      /^(ENOENT|EACCES)/,
      `${database} cannot be reached, since a file or a socket that its URL names cannot be opened`,
      `correct ${variable}, or the permissions of that file`,
    ],
    [
      /^28|SASL|password must be/,
      `${database} lets nobody in with the user and the password there`,
      `correct both in ${variable}, or let that user in on the server`,
    ],
    [
      /^3D000/,
      `there is no database of the name that ${variable} has`,
      `create it on the server, or correct the name in ${variable}`,
    ],
    [
      /^42501/,
      `the user of ${variable} lacks rights on the schema ${schema}`,
      `let that user create schemas in the database, or make it the owner of ${schema} and ${schema}_jobs`,
    ],
    [
      /^25006/,
      `${database} is on a standby, which takes no writes`,
      `name the primary in ${variable}`,
    ],
    [
      /^53300/,
      `${database} has no connection left`,
      'raise max_connections of PostgreSQL, or lower store.pool',
    ],
    [
      /^(57P|08|ECONN|EPIPE)|connection (terminated|ended)/i,
      `${database} ended the connection`,
      'look at the log of PostgreSQL, then try again',
    ],
    [
      /^(CERT|DEPTH|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)|SSL|certificate/,
      `${database} cannot be reached over TLS as its URL asks for`,
      `correct sslmode and the certificates in ${variable}`,
    ],
    [
      /^(55P03|57014)/,
      `${database} did not answer in time`,
      'try again once others no longer hold its tables',
    ],
  ];
}
