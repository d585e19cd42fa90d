import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Passkey, PasskeyRefusal, Passkeys } from '../../actors/ports/passkeys.ts';
import { confirmedDecision } from '../../actors/tasks/tasks.ts';
import type { ConfirmedDecision } from '../../machines/domain/passkey-confirmation.ts';
import type { DecisionAttempt } from '../../machines/governance/approvers.ts';
import { answerMispinned } from '../../machines/governance/decision.ts';
import { readJson } from '../middleware/read-json.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { ofSender } from '../routes/decisions.ts';
import { sessionOf } from '../sign-in/find-session.ts';
import {
  type AddedPasskeyJson,
  type PasskeyJson,
  type PasskeyListJson,
  readConfirmation,
  readRegistration,
} from '../wire/approvals-page.ts';
import { presentAnswer, readDecision } from '../wire/decision.ts';
import { Problem } from '../wire/problem.ts';
import { timestamp } from '../wire/timestamp.ts';

interface PasskeyPorts {
  /** Path of the API of the page. */
  api: string;
  active: Middleware<RequestState>;
  /** As `active`, for a person whom the issuer confirms. */
  deciding: Middleware<RequestState>;
  passkeys: Passkeys;
  clock: Pick<Clock, 'now'>;
}

/** Adds the routes for passkeys to those of the approvals page (docs/contract/approvals-page.md). */
export function passkeyRoutes(
  router: Router<RequestState>,
  { api, active, deciding, passkeys, clock }: PasskeyPorts,
): void {
  const read = readJson({ longest: 64 * 1024 });
  router.get(`${api}/passkeys`, active, async (ctx) => {
    const listed = await passkeys.list(sessionOf(ctx));
    ctx.body = { passkeys: listed.map(presentPasskey) } satisfies PasskeyListJson;
  });
  router.post(`${api}/passkeys/questions`, deciding, read, async (ctx) => {
    const { nonce, options } = given(await passkeys.startRegistration(sessionOf(ctx)));
    ctx.body = { nonce, options };
  });
  router.post(`${api}/passkeys`, deciding, read, async (ctx) => {
    const { passkey } = given(
      await passkeys.register(sessionOf(ctx), readRegistration(ctx.request.body)),
    );
    ctx.status = 201;
    ctx.body = presentPasskey(passkey) satisfies AddedPasskeyJson;
  });
  router.post(`${api}/passkeys/:id/removal`, deciding, read, async (ctx) => {
    const { kind } = given(await passkeys.remove(sessionOf(ctx), ctx.params['id'] ?? ''));
    if (kind === 'unknown') throw new Problem('passkey_not_found', 'you have no such passkey');
    ctx.status = 204;
  });
  router.post(`${api}/tasks/:id/questions`, active, read, async (ctx) => {
    const read = readDecision(ctx.request.body, ctx.state.caller, clock.now());
    const attempt = ofSender(read, ctx.state);
    const { nonce, options } = given(
      await passkeys.ask(sessionOf(ctx), await confirmedOf(ctx, attempt)),
    );
    ctx.body = { nonce, options };
  });
}

/**
 * Returns a function that adds to a decision the confirmation with a passkey that the body has. Rejects with a Problem if
 * the passkey has not confirmed exactly this decision.
 */
export function withPasskey(passkeys: Passkeys) {
  return async function confirmed(attempt: DecisionAttempt, ctx: RoutedContext) {
    const answer = readConfirmation(ctx.request.body);
    if (answer === null) return attempt;
    const decision = await confirmedOf(ctx, attempt);
    const { confirmation } = given(await passkeys.confirm(sessionOf(ctx), decision, answer));
    return { ...attempt, passkey: confirmation };
  };
}

/** Returns what a passkey confirms with a decision of the person on the pending call. Rejects with a Problem. */
async function confirmedOf(
  { params, state: { tasks } }: RoutedContext,
  attempt: DecisionAttempt,
): Promise<ConfirmedDecision> {
  const id = params['id'] ?? '';
  const task = attempt.deferralId === null ? undefined : await tasks.find(id);
  const held = task?.deferral ?? null;
  const answer = held === null ? { kind: 'notPending' as const } : answerMispinned(held, attempt);
  if (held === null || answer !== null) {
    throw presentAnswer(id, answer ?? { kind: 'notPending' }) as Problem;
  }
  return confirmedDecision(held, attempt);
}

/** Returns an outcome that is no refusal. Throws a 403 Problem for a refusal. */
function given<Outcome extends { kind: string }>(
  outcome: Outcome | PasskeyRefusal,
): Exclude<Outcome, PasskeyRefusal> {
  if (outcome.kind !== 'refused') return outcome as Exclude<Outcome, PasskeyRefusal>;
  throw new Problem('passkey_refused', (outcome as PasskeyRefusal).problem);
}

function presentPasskey({ id, name, createdAt, countsFrom, usedAt }: Passkey): PasskeyJson {
  return {
    id,
    name,
    created_at: timestamp(createdAt),
    counts_from: timestamp(countsFrom),
    used_at: usedAt === null ? null : timestamp(usedAt),
  };
}
