import { chatProvider, runtimeProvider } from './approvers.ts';
import type { PersonKey } from './same-person.ts';

/** Returns a caller's display name, email or name; `null` for no person. */
export function callerName(caller: PersonKey | null): string | null {
  if (caller === null) return null;
  const { provider, userId, email = '' } = caller;
  if (email !== '') return email;
  const isNobody = [runtimeProvider, chatProvider].includes(provider) && userId === provider;
  return isNobody || userId === '' ? null : userId;
}

/** Display text for a caller with the daemon's own token, which only the operator of this machine has. */
const operatorWords = 'the operator of this machine';

/** Returns a caller's display text: email, name, or the operator; `null` for no person. */
export function callerWords(caller: PersonKey | null): string | null {
  return isOperator(caller) ? operatorWords : callerName(caller);
}

/** Returns true if a caller is the operator, identified only by the daemon's own token. */
export function isOperator(caller: PersonKey | null): boolean {
  return caller?.provider === runtimeProvider && caller.userId === runtimeProvider;
}

/** Returns the display name of a string's author; a missing name may mean the operator. */
export function nameInWords(name: string | null, isOfOperator: boolean | undefined): string | null {
  return name === null && isOfOperator === true ? operatorWords : name;
}
