import { codeOf } from '../../machines/error-code.ts';
import { SecretsError } from './secrets-error.ts';

/** Creates the error for an unusable secrets file; it reveals none of the content. */
export function unusableFile(path: string, what: string, cause?: unknown): SecretsError {
  return new SecretsError('secrets_unusable', `${path} ${what}`, { cause });
}

/** Returns the system's code for a file error, such as `EACCES`. */
export function fileReason(error: unknown): string {
  return codeOf(error) || 'unknown reason';
}
