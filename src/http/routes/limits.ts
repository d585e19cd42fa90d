import { z } from 'zod';
import type { Settlement } from '../../actors/ports/ledger.ts';
import { runtimeProvider } from '../../machines/governance/approvers.ts';
import { callerName } from '../../machines/governance/caller-name.ts';
import { limitJson } from '../../machines/governance/limit-json.ts';
import { isFrom } from '../../machines/governance/tightened.ts';
import { oneLine } from '../../machines/legible.ts';
import { holding, json } from '../openapi/operation.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { limitList } from '../wire/limit.ts';
import { Problem, refusal } from '../wire/problem.ts';
import { readOutcomePage } from '../wire/query.ts';
import { type EnvelopePorts, requestEnvelope } from '../wire/request-envelope.ts';
import {
  outcome,
  outcomePage,
  presentOutcome,
  readSettlement,
  settledBefore,
  settledEarlier,
  settlementRequest,
} from '../wire/settlement.ts';
import { badBody, badQuery, page, query, type Routes } from './route.ts';

/** The routes of limits, and of calls whose outcome nobody knows. */
export const limitRoutes = (ports: EnvelopePorts): Routes => ({
  'GET /limits': {
    id: 'listLimits',
    tag: 'approvals',
    says: 'Lists the limits with what is used of them: those that count the calls of the caller, and all of them for the token of the daemon.',
    answers: { 200: holding('The limits, by name.', limitList) },
    answer: limitsList,
  },
  'GET /limits/settlements': {
    id: 'listOutcomes',
    tag: 'approvals',
    says: 'Lists the calls whose outcome nobody knows, newest first, and those that people settled.',
    parameters: [
      query('state', 'open or settled (default: both).', z.enum(['open', 'settled'])),
      ...page,
    ],
    answers: { 200: holding('A page of them.', outcomePage), 400: badQuery },
    answer: outcomesList,
  },
  'POST /limits/settlements': {
    id: 'settleOutcome',
    tag: 'approvals',
    says: 'States whether a call ran whose outcome nobody knows, or that failed; for the token of the daemon, and for operators of the dashboard.',
    body: {
      schema: settlementRequest,
      types: [json],
      example: { call_id: 'c-1', ran: false, reason: 'The bank has no payment for A-2001.' },
    },
    answers: {
      200: holding('The statement is stored.', outcome),
      400: badBody,
      403: holding('The caller may not settle the call.', refusal),
      404: holding('There is no such call.', refusal),
      409: holding('A person settled the call earlier.', settledEarlier),
    },
    answer: outcomesSettle(ports),
  },
});

async function limitsList(ctx: RoutedContext): Promise<void> {
  ctx.body = { limits: (await ctx.state.tasks.limits()).map(limitJson) };
}

async function outcomesList(ctx: RoutedContext): Promise<void> {
  const { outcomes, cursor } = await ctx.state.tasks.outcomes(readOutcomePage(ctx.query));
  ctx.body = {
    outcomes: outcomes.map(presentOutcome),
    ...(cursor === null ? {} : { next_cursor: cursor }),
  };
}

function outcomesSettle(ports: EnvelopePorts) {
  return async function settle(ctx: RoutedContext) {
    const { call_id: callId, ran, reason, approver } = readSettlement(ctx.request.body);
    const { state } = ctx;
    const { by, ...vouched } = settlerOf(state, approver);
    const found = await state.tasks.outcome(callId);
    if (found === undefined) throw unknownOutcome();
    const { caller } = state;
    const person = caller?.provider === runtimeProvider ? null : caller;
    if (isFrom({ approver: by, ...(person && { caller: person }) }, found.requester)) {
      const error = 'you requested this call, so another person must settle it';
      throw new Problem('own_call', error);
    }
    if (found.settled !== undefined) throw settledBefore(found);
    const settled: Settlement = { ran, by, reason, at: ports.clock.now() };
    const sender = caller === null ? {} : { provider: caller.provider, user_id: caller.userId };
    const event = { ...requestEnvelope(ports, state, caller), fields: { ...vouched, ...sender } };
    const answer = await state.tasks.settle(callId, settled, event);
    if (answer === 'unknown') throw unknownOutcome();
    if (answer === 'settled') {
      throw settledBefore((await state.tasks.outcome(callId)) ?? found);
    }
    ctx.body = presentOutcome(answer);
  };
}

/**
 * Returns the person who settles a call, and how the name was established. Throws a 403 Problem unless the caller has the
 * daemon's own token, or is an operator of the dashboard.
 */
function settlerOf({ caller, signedInAt, taskAccess }: RequestState, approver?: string) {
  if (caller?.provider === runtimeProvider) {
    const vouched_by = approver === undefined ? 'nobody' : 'asserted';
    return { by: oneLine(approver ?? null), method: 'runtime_token', vouched_by };
  }
  if (caller !== null && signedInAt === 'dashboard' && taskAccess === 'any') {
    const vouched_by = `token:${caller.provider}`;
    return { by: oneLine(callerName(caller)), method: 'dashboard', vouched_by };
  }
  const error =
    "only the daemon's own token settles calls; it is in .service/runtime.token, and the dashboard uses it for its operators";
  throw new Problem('daemon_token_required', error);
}

function unknownOutcome(): Problem {
  const error = 'no call of this id has an unknown outcome; see GET /limits/settlements';
  return new Problem('outcome_not_found', error);
}
