import {
  type Delegation,
  type DelegationAccess,
  DelegationRefusal,
} from '../../actors/ports/delegations.ts';
import { runtimeProvider } from '../../machines/governance/approvers.ts';
import { normaliseEmail } from '../../machines/governance/email.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { presentDelegation, readDelegation } from '../wire/delegation.ts';
import { Problem } from '../wire/problem.ts';

export interface DelegationPorts {
  delegating: DelegationAccess;
}

/** Path of the delegations. */
export const delegationsPath = '/delegations';

/** `GET /delegations`: the delegations that the caller gave or received; all for the token of the daemon. */
export function delegationsList({ delegating }: DelegationPorts) {
  return async function list(ctx: RoutedContext) {
    const all = await delegating.all();
    const own = all.filter((one) => isOperator(ctx.state) || isParty(ctx.state, one));
    ctx.body = { delegations: own.map(presentDelegation) };
  };
}

/** `POST /delegations`: gives another person the right to decide for the caller (docs/approvals.md). */
export function delegationsGive({ delegating }: DelegationPorts) {
  return async function give(ctx: RoutedContext) {
    const { from: stated, to, until } = readDelegation(ctx.request.body);
    const own = emailOf(ctx.state);
    const from = stated ?? own;
    if (from === null) {
      throw new Problem(
        'unverified_email',
        'the token has no verified email, so there is no right to give',
      );
    }
    if (!isOperator(ctx.state) && normaliseEmail(from) !== own) {
      throw new Problem('not_own_delegation', 'a person delegates for oneself only');
    }
    try {
      ctx.body = presentDelegation(await delegating.give({ from, to, until }));
      ctx.status = 201;
    } catch (error) {
      if (error instanceof DelegationRefusal)
        throw new Problem('delegation_refused', error.message);
      throw error;
    }
  };
}

/** `DELETE /delegations/{id}`: ends a delegation that the caller gave or received. */
export function delegationsEnd({ delegating }: DelegationPorts) {
  return async function end(ctx: RoutedContext) {
    const { id = '' } = ctx.params;
    const found = (await delegating.all()).find((one) => one.id === id);
    const isOwn = found !== undefined && (isOperator(ctx.state) || isParty(ctx.state, found));
    const ended = isOwn ? await delegating.end(id) : undefined;
    if (ended === undefined) throw new Problem('delegation_not_found', 'delegation not found');
    ctx.body = presentDelegation(ended);
  };
}

function isOperator({ caller }: RequestState): boolean {
  return caller?.provider === runtimeProvider;
}

function isParty(state: RequestState, { from, to }: Delegation): boolean {
  const own = emailOf(state);
  return own !== null && (from === own || to === own);
}

function emailOf({ caller }: RequestState): string | null {
  return normaliseEmail(caller?.email ?? '');
}
