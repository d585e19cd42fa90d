import { causesOf, codeOf } from '../../../machines/error-code.ts';
import { StoreError } from '../store/store-error.ts';
import { UnreachableError } from '../store/task-store.ts';
import { databaseWords } from './database-words.ts';
import { UnconnectedError } from './postgres-connection.ts';

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

/** Puts an error of the driver into a sentence that says what to do; one of ours stays as it is. */
export function databaseError(
  error: unknown,
  { variable = 'the variable of store.url_env', schema }: Named,
): StoreError {
  if (error instanceof StoreError) return error;
  // An error of ours around it says less.
  const causes = causesOf(error).filter((each) => !(each instanceof UnreachableError));
  const cause = causes.findLast((each) => codeOf(each) !== '') ?? causes[0] ?? error;
  const code = codeOf(cause);
  const said = `${code} ${cause instanceof Error ? cause.message : ''}`;
  const isOutside = causesOf(error).some((each) => each instanceof UnconnectedError);
  const words = databaseWords({ variable, schema, isOutside });
  const found = words.find(([when]) => when.test(said));
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
