import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Ids } from '../../actors/ports/ids.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { HoldTimes } from '../../machines/domain/hold.ts';
import { isFinal, type Task } from '../../machines/domain/task.ts';
import { isJsonObject, isWellFormed, type JsonValue } from '../../machines/json.ts';
import { dialects } from '../hooks/dialects.ts';
import { type Dialect, type HookCall, HookFault, type HookOutcome } from '../hooks/hook-event.ts';
import { hookKey, outcomeKey, sessionName } from '../hooks/hook-key.ts';
import { type AdmitPorts, admit } from '../middleware/admit.ts';
import { problemOf } from '../middleware/handle-errors.ts';
import { readJson } from '../middleware/read-json.ts';
import { openHoldFor } from '../open-task.ts';
import { holding, json, type Parameter } from '../openapi/operation.ts';
import { preferredWait, prefersAsync } from '../prefer.ts';
import type { RoutedContext } from '../request-state.ts';
import { receiveHold, waitForHold } from '../wait-for-hold.ts';
import { heldInvocation } from '../wire/admission.ts';
import { hold, holdStatus, presentHold, readHold, retryAfter } from '../wire/hold.ts';
import { Problem, refusal } from '../wire/problem.ts';
import type { Routes } from './route.ts';

export interface HookPorts extends AdmitPorts, HoldTimes {
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Receives the coding agent of each event that could be read. */
  onHookAsked: (dialect: string) => void;
}

const position: Parameter = {
  name: 'position',
  in: 'query',
  says: 'Identifies a call whose event has no call id, such as the length of the transcript.',
  schema: z.string().max(256),
};

const hookEvent = z
  .record(z.string(), z.unknown())
  .meta({ id: 'HookEvent', description: 'An event or answer in the form of a coding agent.' });

const exampleEvent = {
  hook_event_name: 'PreToolUse',
  session_id: 's-1',
  tool_use_id: 'toolu_01',
  tool_name: 'Bash',
  tool_input: { command: 'rm -rf build' },
};

/** The route of the hooks of coding agents (docs/guard.md). */
export const hookRoutes = (ports: HookPorts): Routes => ({
  'POST /hooks/:dialect': {
    id: 'answerHook',
    tag: 'holds',
    says: 'Answers the hook of a coding agent: claude-code, codex, cursor, copilot or opencode. The request waits for a decision; a refusal is a denial in the form of the host.',
    parameters: [position],
    body: { schema: hookEvent, types: [json], example: exampleEvent },
    answers: {
      200: holding('The decision in the form of the host.', hookEvent),
      202: holding('With Prefer: respond-async, the call waits for a person.', hold, {
        headers: { 'Retry-After': 'Seconds until the next request.' },
      }),
      400: holding('With Prefer: respond-async, the event cannot be decided.', refusal),
      404: holding('The coding agent is unknown.', refusal),
      409: holding('With Prefer: respond-async, the call id belongs to another call.', refusal),
      429: holding('With Prefer: respond-async, too many calls of the caller wait.', refusal),
    },
    isAdmitted: true,
    before: [hooksDeny(ports), readJson()],
    answer: hooksAnswer(ports),
  },
});

/** Longest wait of a host for a decision, in seconds. */
const longestWait = 86_400;

/**
 * Turns every refusal into a denial in the form of the host, since some hosts run a call whose hook fails. A program
 * that sends `Prefer: respond-async` receives the refusal itself.
 */
function hooksDeny({ log }: Pick<HookPorts, 'log'>) {
  return async function denyRefused(ctx: RoutedContext, next: () => Promise<unknown>) {
    const dialect = dialectOf(ctx);
    try {
      await next();
    } catch (thrown) {
      const error = thrown instanceof HookFault ? unusable(thrown) : thrown;
      if (prefersAsync(ctx)) throw error;
      const problem = problemOf(error);
      if (problem.status === 500) log.error({ error, path: ctx.path }, 'http: request failed');
      ctx.status = 200;
      ctx.body = dialect.deny(`the gate refused the call: ${problem.message}`);
    }
  };
}

function hooksAnswer(ports: HookPorts) {
  const admitCall = admit(ports, heldInvocation);
  return async function answer(ctx: RoutedContext) {
    const dialect = dialectOf(ctx);
    const { body } = ctx.request;
    if (!isJsonObject(body)) throw new HookFault('the event is no JSON object');
    const event = dialect.read(body);
    ports.onHookAsked(ctx.params['dialect'] ?? '');
    if (event.kind === 'outcome') return reportOutcome(ctx, event);
    if (!isWellFormed(body)) {
      throw new HookFault('the event has half of a Unicode character; send whole characters');
    }
    await admitCall(ctx, () => answerCall(ctx, dialect, event, ports));
  };
}

async function answerCall(
  ctx: RoutedContext,
  dialect: Dialect,
  event: HookCall,
  { clock, ids, releaseWithin, outcomeWithin }: HookPorts,
): Promise<void> {
  const { dialect: name = '' } = ctx.params;
  const { position } = ctx.query;
  const isNamed = typeof position === 'string' && position !== '' && position.length <= 256;
  const asked = readHold({
    ...{ key: hookKey(name, event, isNamed ? position : ids.next()), agent: name },
    ...{ tool: event.tool, args: event.args, context: event.context },
    session: sessionName(event.session),
    ...(event.cwd === null ? {} : { cwd: event.cwd }),
  });
  const isAsync = prefersAsync(ctx);
  const within = preferredWait(ctx, isAsync ? 0 : longestWait, longestWait);
  const { id, isSame, isNew } = await openHoldFor(ctx.state, {
    ...{ ...asked, client: name, releaseWithin, outcomeWithin },
  });
  if (!isSame) {
    const error =
      'the call id belongs to another call of this session; the agent must make a new call';
    throw new Problem('idempotency_key_reused', error, { hold_id: id });
  }
  const task = await waitForHold(ctx, id, { clock, within });
  if (task === null) return;
  if (isFinal(task.state)) return answerDecided(ctx, dialect, event, { decided: task, isNew });
  if (!isAsync) {
    const ended = await ctx.state.tasks.cancel(
      id,
      `the hook waited ${Math.round((clock.now() - task.createdAt) / 1_000)} s`,
    );
    return answerDecided(ctx, dialect, event, { decided: ended ?? task, isNew });
  }
  ctx.body = presentHold(task, { isTaken: false });
  ctx.status = 202;
  ctx.set('Retry-After', String(retryAfter));
}

async function answerDecided(
  ctx: RoutedContext,
  dialect: Dialect,
  event: HookCall,
  { decided, isNew }: { decided: Task; isNew: boolean },
): Promise<void> {
  const { args, outcome } = presentHold(decided, { isTaken: true });
  const deny = (why: string): void => {
    ctx.body = dialect.deny(why);
  };
  if (args === undefined) return deny(refusalIn(decided));
  const isChanged = canonicalize(args) !== canonicalize(event.args);
  if (isChanged && !event.mayChange) {
    await ctx.state.tasks.closeHold(decided.id, { status: 'not_run' });
    return deny(
      `the call may run only with other arguments, which the host cannot apply; make this call: ${JSON.stringify(args)}`,
    );
  }
  if (outcome !== null) return deny('this call ran before; make a new call to run it again');
  const { task, isFirst } = await receiveHold(ctx, decided);
  const status = holdStatus(task);
  if (status !== 'allowed' && status !== 'approved') return deny(refusalIn(task));
  // Without a call id, an equal call looks like the same one: one approval must not release two, nor one reservation.
  const isUsed = status === 'approved' ? !isFirst : !isNew && isCounted(task);
  if (event.callId === null && isUsed) {
    return deny(`the ${usedUp[status]} of this call was used before; make the call again`);
  }
  ctx.body = dialect.allow(isChanged ? (args as HookCall['args']) : null);
}

const usedUp = { approved: 'approval', allowed: 'permission' } as const;

/** Returns whether a call counts for a limit, or keeps an effect from being repeated. */
function isCounted({ ran = [] }: Task): boolean {
  return ran.some(({ reserved = [] }) => reserved.length > 0);
}

/** Returns why a decided call may not run. */
function refusalIn(task: Task): string {
  const { reason, status } = presentHold(task, { isTaken: true });
  return `the call may not run: ${reason?.replace(/^(canceled|defer): /, '') ?? status}`;
}

/** Records the end of a call. The end of an unknown call, or of one that may not run, is ignored. */
async function reportOutcome(ctx: RoutedContext, event: HookOutcome): Promise<void> {
  ctx.body = {};
  const key = outcomeKey(ctx.params['dialect'] ?? '', event);
  const id = key === null ? undefined : await ctx.state.tasks.findHold(key);
  if (id === undefined) return;
  const { status, result } = event;
  const digest =
    result === undefined || !isWellFormed(result) ? {} : { resultSha256: digestOf(result) };
  await ctx.state.tasks.closeHold(id, { status, ...digest });
}

function digestOf(value: JsonValue): string {
  return hash('sha256', canonicalize(value) ?? '', 'hex');
}

function dialectOf(ctx: RoutedContext): Dialect {
  const dialect = dialects.get(ctx.params['dialect'] ?? '');
  if (dialect !== undefined) return dialect;
  const known = [...dialects.keys()].join(', ');
  throw new Problem(
    'unknown_coding_agent',
    `unknown coding agent; the hooks of ${known} are supported`,
  );
}

function unusable({ message }: HookFault): Problem {
  return new Problem('invalid_body', message);
}
