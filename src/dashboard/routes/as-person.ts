import type { LineCall } from '../../actors/workspace/workspace.ts';
import type { RequestState } from '../../http/request-state.ts';
import { personHeader, writePerson } from '../../http/wire/named-person.ts';
import { Problem } from '../../http/wire/problem.ts';

/** Returns whether a person has signed in to send a request. */
export function isPerson({ state }: { state: RequestState }): boolean {
  return state.webSession !== undefined;
}

/**
 * Returns what makes a request to an agent one of the person who has signed in; nothing without a sign-in, so that it is
 * one of the operator of the machine. No header of the browser reaches an agent. Throws a 403 Problem.
 */
export function asPerson({ state }: { state: RequestState }): Pick<LineCall, 'headers'> {
  const { webSession, isOperator } = state;
  if (webSession === undefined) return {};
  const { caller } = webSession.session;
  const header = writePerson(caller, isOperator === true ? 'all' : 'own');
  if (header !== null) return { headers: { [personHeader]: header } };
  const error =
    'your account has more groups and claims than the dashboard can forward; ask the operator to have the issuer send fewer';
  throw new Problem('too_many_claims', error);
}
