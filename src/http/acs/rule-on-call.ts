import type { Clock } from '../../actors/ports/clock.ts';
import type { HoldTimes } from '../../machines/domain/hold.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { sessionName } from '../hooks/hook-key.ts';
import { openHoldFor } from '../open-task.ts';
import type { RoutedContext } from '../request-state.ts';
import { receiveHold, waitForHold } from '../wait-for-hold.ts';
import { type AcsDecision, type AcsRequest, denial } from '../wire/acs.ts';
import { holdStatus, readHold } from '../wire/hold.ts';
import { type AcsCall, decisionOf, digestOf } from './acs-call.ts';
import { changeSession, type SessionPorts } from './change-session.ts';

export interface RulingPorts extends SessionPorts, HoldTimes {
  clock: Clock;
  /** Milliseconds that a request waits for a person. */
  within: number;
}

/** Maximum number of steps of a session that wait for a person. */
const mostOpen = 100;

/** Maximum number of holds for one request, each of which gave its decision to an equal request. */
const mostHolds = 3;

/**
 * Decides on a step by the rules of the gate, after the wait for a person. Equal steps of a session share a hold until
 * one of them received its decision. Returns `null` if the client left. Rejects with Problem or SystemError.
 */
export async function ruleOnCall(
  ctx: RoutedContext,
  { params }: AcsRequest,
  call: AcsCall,
  ports: RulingPorts,
): Promise<AcsDecision | null> {
  const { metadata, request_id: request } = params;
  const { session_id: session, agent_id: agent } = metadata;
  for (let round = 0; round < mostHolds; round += 1) {
    // A request whose own question an equal request used up asks another one.
    const question = round === 0 ? request : `${request} ${round}`;
    const asker = await claim(ports, session, call.sha256, question);
    if (asker === null) {
      const why = `${mostOpen} calls of this session wait for a person; wait for a decision`;
      return denial(why, 'deferral_limit');
    }
    const key = digestOf(['acs', session, asker]);
    const { tool, args, context, sha256 } = call;
    const asked = readHold({
      ...{ key, tool, args, agent, runs_sha256: sha256, session: sessionName(session) },
      ...(Object.keys(context).length === 0 ? {} : { context }),
    });
    const { id } = await openHoldFor(ctx.state, {
      ...asked,
      ...{ releaseWithin: ports.releaseWithin, outcomeWithin: ports.outcomeWithin },
    });
    const task = await waitForHold(ctx, id, ports);
    if (task === null) return null;
    if (!isFinal(task.state)) return deferral(task, ports.clock.now());
    if (!(await settle(ports, session, call.sha256, asker))) continue;
    return released(ctx, { task, key }, { session, request }, call, ports);
  }
  return denial('equal calls received the decision; make the call again', 'decision_used');
}

/** Returns the question whose hold answers a step; `null` if too many steps of the session wait. */
function claim(
  ports: SessionPorts,
  id: string,
  step: string,
  question: string,
): Promise<string | null> {
  return changeSession(ports, id, (session) => {
    const known = Object.hasOwn(session.open, step) ? session.open[step] : undefined;
    if (known !== undefined) return { session: null, result: known };
    if (Object.keys(session.open).length >= mostOpen) return { session: null, result: null };
    const open = { ...session.open, [step]: question };
    return { session: { ...session, open }, result: question };
  });
}

/** Ends the question of a step; returns false if an equal request has received its decision. */
function settle(ports: SessionPorts, id: string, step: string, asker: string): Promise<boolean> {
  return changeSession(ports, id, (session) => {
    const { [step]: known, ...open } = session.open;
    if (known !== asker) return { session: null, result: false };
    return { session: { ...session, open }, result: true };
  });
}

async function released(
  ctx: RoutedContext,
  { task, key }: { task: Task; key: string },
  { session, request }: { session: string; request: string },
  call: AcsCall,
  { sessions }: SessionPorts,
): Promise<AcsDecision> {
  const decision = decisionOf(task, call);
  if (decision.decision === 'deny') {
    if (task.state === 'completed') await ctx.state.tasks.closeHold(task.id, { status: 'not_run' });
    return decision;
  }
  const { task: now, isFirst } = await receiveHold(ctx, task);
  const withdrawn = decisionOf(now, call);
  if (withdrawn.decision === 'deny') return withdrawn;
  if (holdStatus(now) === 'approved' && !isFirst) {
    return denial('the approval was used before; make the call again', 'decision_used');
  }
  await sessions.link(session, (call.id ?? request).toLowerCase(), key);
  return decision;
}

function deferral(task: Task, now: number): AcsDecision {
  const { to, expiresAt } = task.deferral ?? { to: 'a person', expiresAt: now };
  return {
    decision: 'defer',
    reasoning: `the call waits for ${to}; make the same call again to receive the decision`,
    reason_codes: ['approval_pending'],
    defer_details: {
      reason: 'pending_dependency',
      resolution_method: 'human_approval',
      resolution_timeout_ms: Math.max(1, expiresAt - now),
      timeout_decision: 'deny',
    },
    policy_data: { hold_id: task.id, to, expires_at: new Date(expiresAt).toISOString() },
  };
}
