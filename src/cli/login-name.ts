import { userInfo } from 'node:os';

/** Returns the login name of the user; `unknown` when this machine has none. */
export function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
