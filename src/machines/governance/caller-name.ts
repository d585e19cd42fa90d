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

/** What a caller is called who holds the daemon's own token: nobody signed in, and nobody else on this machine has it. */
const operatorWords = 'the operator of this machine';

/** Returns a caller in words for people: by email or name, or as the operator; `null` when nobody is behind it. */
export function callerWords(caller: PersonKey | null): string | null {
  return isOperator(caller) ? operatorWords : callerName(caller);
}

/** Tells whether a caller is the operator, who is known by the daemon's own token alone. */
export function isOperator(caller: PersonKey | null): boolean {
  return caller?.provider === runtimeProvider && caller.userId === runtimeProvider;
}

/** Names in words who a text of a notice is from, where a name that is missing may be that of the operator. */
export function nameInWords(name: string | null, isOfOperator: boolean | undefined): string | null {
  return name === null && isOfOperator === true ? operatorWords : name;
}
