import { WalkTooLongError } from './walk-files.ts';

/** Returns why a search ended early. Rethrows errors unrelated to the searched folder. */
export function searchFailure(error: unknown): { problem: string } {
  if (error instanceof WalkTooLongError) {
    return { problem: 'there is too much in this folder; name a smaller one in path' };
  }
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return { problem: 'argument path cannot be used: it does not exist' };
    case 'ENOTDIR':
    case 'ELOOP':
      return { problem: 'argument path must be a folder' };
    case 'EACCES':
      return { problem: 'argument path cannot be used: the agent may not open it' };
    default:
      throw error;
  }
}
