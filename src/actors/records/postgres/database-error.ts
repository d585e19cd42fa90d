import { causesOf, codeOf } from '../../../machines/error-code.ts';
import { StoreError } from '../store/store-error.ts';
import { UnreachableError } from '../store/task-store.ts';
import { databaseWords } from './database-words.ts';
import { UnconnectedError } from './postgres-connection.ts';

/** The database is unusable; the message gives reason and remedy and contains neither an address nor a password. */
export class DatabaseError extends StoreError {
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string, cause?: unknown) {
    super(`${reason}; ${remedy}`, { cause });
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** Names of the connection settings used in messages. */
interface Named {
  /** The variable that holds the URL. */
  variable?: string | undefined;
  schema: string;
}

/** Converts a driver error to a sentence with a remedy; errors of this project are returned unchanged. */
export function databaseError(
  error: unknown,
  { variable = 'the variable of store.url_env', schema }: Named,
): StoreError {
  if (error instanceof StoreError) return error;
  // A wrapping error of this project is less specific than its cause.
  const causes = causesOf(error).filter((each) => !(each instanceof UnreachableError));
  const cause = causes.findLast((each) => codeOf(each) !== '') ?? causes[0] ?? error;
  const code = codeOf(cause);
  const said = `${code} ${cause instanceof Error ? cause.message : ''}`;
  const isOutside = causesOf(error).some((each) => each instanceof UnconnectedError);
  const words = databaseWords({ variable, schema, isOutside });
  const found = words.find(([when]) => when.test(said));
  if (found !== undefined) return new DatabaseError(found[1], found[2], error);
  // Text that could contain an address is omitted.
  const which = /:\/\/|@/.test(said) ? code : said.trim();
  const why = which === '' ? '' : ` (${which})`;
  return new DatabaseError(
    `the database of ${variable} cannot be used${why}`,
    'look at the log of PostgreSQL, then try again',
    error,
  );
}
