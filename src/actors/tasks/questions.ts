import { hash } from 'node:crypto';
import { answerIn, type Question, type QuestionAnswer } from '../../machines/domain/question.ts';
import { isFinal, type Task, type WaitElsewhere } from '../../machines/domain/task.ts';
import { isJsonObject, type JsonObject } from '../../machines/json.ts';
import type { TaskRun } from '../../machines/task/task-input.ts';
import type { Log } from '../ports/log.ts';
import { SystemError } from '../system-error.ts';
import type { Holds } from './holds.ts';
import type { Watchers } from './watchers.ts';

/** A question of a running call. */
export interface AskedQuestion {
  run: Pick<TaskRun, 'id' | 'requester' | 'correlationId' | 'tags'>;
  callId: string;
  /** The called tool. */
  tool: string;
  question: Question;
  signal: AbortSignal;
  /** Called with the wait for a person, and with `null` when it ends. */
  onWait: (wait: WaitElsewhere | null) => void;
}

export interface QuestionPorts {
  holds: () => Holds;
  watchers: Pick<Watchers, 'settled'>;
  cancel: (id: string) => Promise<unknown>;
  log: Log;
}

/** Time for the steps after a decision, which follow at once, in milliseconds. */
const afterDecision = 300_000;

/**
 * Asks the approvers of a server's questions, as for a held call, and returns their answer. Only the approval of a
 * person accepts: without a rule that holds the questions, nothing is accepted. Resolves at the latest when the signal
 * aborts, except during a shutdown: the next start asks again.
 */
export async function askPeople(
  { holds, watchers, cancel, log }: QuestionPorts,
  { run, callId, tool, question, signal, onWait }: AskedQuestion,
): Promise<QuestionAnswer> {
  const { tool: name, key: place, ...args } = question;
  const { requester, correlationId, tags } = run;
  const key = hash('sha256', JSON.stringify([run.id, callId, place, args]), 'base64url');
  const data = { tool: name, args: args as unknown as JsonObject };
  const message = { role: 'user', parts: [{ kind: 'data', data }], messageId: key } as const;
  const request = {
    message: { ...message, parts: [...message.parts] },
    requester,
    correlationId,
    tags,
  };
  const times = { releaseWithin: afterDecision, outcomeWithin: afterDecision };
  const context = { task: run.id, call: tool };
  let id: string | null = null;
  try {
    const asks = { key, tool: name, context, ...times };
    ({ id } = await holds().open({ ...request, surface: 'hold' }, data.args, asks));
    const held = await watchers.settled(
      id,
      signal,
      ({ state }) => state === 'deferred' || isFinal(state),
    );
    if (held.deferral !== null) onWait(waitOf(name, held.deferral));
    const ended = isFinal(held.state) ? held : await watchers.settled(id, signal);
    return await answerOf(ended, holds());
  } catch (error) {
    if (signal.aborted) {
      if (id !== null) await cancel(id).catch(() => undefined);
    } else if (error instanceof SystemError && error.code === 'shutting_down') {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    } else
      log.warn(
        { error, task_id: run.id, tool },
        'mcp: the question of a server could not be asked',
      );
    return { action: 'cancel' };
  } finally {
    if (!signal.aborted) onWait(null);
  }
}

function waitOf(name: string, { to, expiresAt }: NonNullable<Task['deferral']>): WaitElsewhere {
  return { at: name, for: to, until: new Date(expiresAt).toISOString() };
}

async function answerOf({ id, hold, failure }: Task, holds: Holds): Promise<QuestionAnswer> {
  const { granted } = hold ?? {};
  if (granted === undefined) {
    return { action: failure?.kind === 'rejected' ? 'decline' : 'cancel' };
  }
  const { task } = await holds.take(id, undefined);
  const state = task?.hold?.account?.state;
  if (state === 'released') await holds.close(id, { status: 'succeeded' });
  // A question that is asked again after a lost connection has its answer already.
  const isAnswered = state === 'released' || state === 'closed';
  if (!isAnswered || granted.deferralId === undefined) return { action: 'cancel' };
  const answer = answerIn(granted.args);
  const isFilled = isJsonObject(answer) && Object.keys(answer).length > 0;
  return { action: 'accept', ...(isFilled ? { content: answer } : {}) };
}
