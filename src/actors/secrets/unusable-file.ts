import { codeOf } from '../../machines/error-code.ts';
import { SecretsError } from './secrets-error.ts';

/** Says of a file of secrets what is wrong with it, and shows nothing of what is in it. */
export function unusableFile(path: string, what: string, cause?: unknown): SecretsError {
  return new SecretsError('secrets_unusable', `${path} ${what}`, { cause });
}

/** Says in the system's word why a file cannot be used, such as `EACCES`. */
export function fileReason(error: unknown): string {
  return codeOf(error) || 'unknown reason';
}
