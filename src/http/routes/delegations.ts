import {
  type Delegation,
  type DelegationAccess,
  DelegationRefusal,
} from '../../actors/ports/delegations.ts';
import { runtimeProvider } from '../../machines/governance/approvers.ts';
import { normaliseEmail } from '../../machines/governance/email.ts';
import { readJson } from '../middleware/read-json.ts';
import { holding, json } from '../openapi/operation.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import {
  delegation,
  delegationList,
  delegationRequest,
  presentDelegation,
  readDelegation,
} from '../wire/delegation.ts';
import { Problem, refusal } from '../wire/problem.ts';
import type { Routes } from './route.ts';

export interface DelegationPorts {
  delegating: DelegationAccess;
}

/** The routes of delegations. */
export const delegationRoutes = (ports: DelegationPorts): Routes => ({
  'GET /delegations': {
    id: 'listDelegations',
    tag: 'approvals',
    says: 'Lists the delegations that the caller gave or received; all of them for the token of the daemon.',
    answers: { 200: holding('The delegations in force.', delegationList) },
    answer: delegationsList(ports),
  },
  'POST /delegations': {
    id: 'giveDelegation',
    tag: 'approvals',
    says: 'Lets another person decide for the caller, until a time.',
    body: {
      schema: delegationRequest,
      types: [json],
      example: { to: 'bob@example.com', until: '2026-12-27T09:00:00Z' },
    },
    answers: {
      201: holding('The delegation.', delegation),
      400: holding('The delegation is not possible; the error says why.', refusal),
      403: holding('The caller may not delegate for this person.', refusal),
    },
    answer: delegationsGive(ports),
  },
  'DELETE /delegations/:id': {
    id: 'endDelegation',
    tag: 'approvals',
    says: 'Ends a delegation that the caller gave or received.',
    answers: {
      200: holding('The delegation that ended.', delegation),
      404: holding('The caller has no delegation of this id.', refusal),
    },
    before: [readJson()],
    answer: delegationsEnd(ports),
  },
});

export function delegationsList({ delegating }: DelegationPorts) {
  return async function list(ctx: RoutedContext) {
    const all = await delegating.all();
    const own = all.filter((one) => isOperator(ctx.state) || isParty(ctx.state, one));
    ctx.body = { delegations: own.map(presentDelegation) };
  };
}

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
