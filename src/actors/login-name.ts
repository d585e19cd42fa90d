import { userInfo } from 'node:os';

/** Returns the user's login name; `unknown` if the machine has none. */
export function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
