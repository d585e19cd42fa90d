import type { RoutedContext } from '../../../http/request-state.ts';
import { Problem } from '../../../http/wire/problem.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { asPerson, isPerson } from '../as-person.ts';
import type { DashboardPorts } from '../dashboard-ports.ts';
import { agentOf, pass, passedPart } from '../relay.ts';

/** Forwards a decision on a waiting call, or the cancellation of a task, to the agent. */
export function orderTask(action: 'decisions' | 'cancel', { workspace, operator }: DashboardPorts) {
  return async function taskOrderer(ctx: RoutedContext): Promise<void> {
    const agent = agentOf(ctx, workspace);
    const path = `/tasks/${passedPart(ctx, 'tid')}/${action}`;
    const { token, body } = readDecision(ctx);
    const given = token === null ? asPerson(ctx) : { token };
    // A sign-in, a token or an email determines the approver's name.
    const isNamed = isPerson(ctx) || token !== null || typeof body['approver_email'] === 'string';
    const approver = action === 'decisions' && !isNamed ? { approver: operator } : {};
    const sent = { ...approver, ...body };
    pass(ctx, await agent.line().json({ method: 'POST', path, body: sent, ...given }));
  };
}

/** Milliseconds for as many decisions as one request may have. */
export const patienceForMany = 60_000;

/** Forwards decisions on several waiting calls to their agent, which decides each one separately. */
export function decideEach({ workspace, operator }: DashboardPorts) {
  return async function manyDecider(ctx: RoutedContext): Promise<void> {
    const line = agentOf(ctx, workspace).line();
    const { token, body } = readDecision(ctx);
    const given = token === null ? asPerson(ctx) : { token };
    const { decisions } = body;
    const named = (one: JsonValue): JsonValue =>
      isJsonObject(one) &&
      !isPerson(ctx) &&
      token === null &&
      typeof one['approver_email'] !== 'string'
        ? { approver: operator, ...one }
        : one;
    const sent = Array.isArray(decisions) ? { decisions: decisions.map(named) } : body;
    const path = '/deferrals/decisions';
    const patience = patienceForMany;
    pass(ctx, await line.json({ method: 'POST', path, body: sent, patience, ...given }));
  };
}

/**
 * Separates the token from a decision. The token is sent to the agent as a credential and is not part of the decision. A
 * person who has signed in decides in the own name alone, so the token is dropped.
 */
function readDecision(ctx: RoutedContext): { token: string | null; body: JsonObject } {
  const sent: unknown = ctx.request.body;
  if (!isJsonObject(sent as JsonValue)) return { token: null, body: {} };
  const { token = null, ...body } = sent as JsonObject;
  if (token === null || isPerson(ctx)) return { token: null, body };
  if (typeof token === 'string' && /^[\x21-\x7e]{1,16384}$/.test(token)) return { token, body };
  throw new Problem('invalid_body', 'token must be a bearer token without spaces');
}
