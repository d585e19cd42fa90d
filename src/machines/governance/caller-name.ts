import { chatProvider, runtimeProvider } from './approvers.ts';
import type { PersonKey } from './same-person.ts';

/** Returns a caller as people are shown them, by email or name; `null` when nobody is behind it. */
export function callerName(caller: PersonKey | null): string | null {
  if (caller === null) return null;
  const { provider, userId, email = '' } = caller;
  if (email !== '') return email;
  const isNobody = [runtimeProvider, chatProvider].includes(provider) && userId === provider;
  return isNobody || userId === '' ? null : userId;
}
