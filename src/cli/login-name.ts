import { userInfo } from 'node:os';

/** The login name of whoever runs the command; `unknown` when this machine has none. */
export function loginName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}
