import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import type { RemoteTask } from '../../../machines/domain/task.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { deadline as timeLimit } from '../../deadline.ts';
import { redactSecrets } from '../../governance/governance.ts';
import { ToolError, type ToolRun } from '../../ports/tool.ts';
import { rest } from '../../rest.ts';
import type { AskedPeople } from './asked-people.ts';
import type { CallDeadline } from './call-deadline.ts';
import {
  calledOff,
  cancelledCall,
  endedCall,
  failedCall,
  refusedInput,
  strayTask,
  unknownTask,
} from './call-failure.ts';
import type { CallParts } from './call-parts.ts';
import type { CallResult } from './call-result.ts';
import { isLoss } from './connection-fault.ts';
import { HttpRefusal } from './http-refusal.ts';
import type { McpSession } from './mcp-session.ts';
import type { ServerTask } from './server-task.ts';
import type { WaitAtServer } from './wait-at-server.ts';

/** Shortest, usual and longest pause between two requests for a task's state, in milliseconds. */
const [shortestPause, usualPause, longestPause] = [1_000, 2_000, 300_000];

/** The shortest pause grows with the age of a task to this, in milliseconds: each request is an event in the log. */
const oldPause = 30_000;
const pauseShare = 0.05;

/** Maximum of a timer, in milliseconds; the total time of a call is shorter. */
const longestTtl = 2 ** 31 - 1;

/** Time for the request that cancels a task, in milliseconds. */
const cancelPatience = 5_000;

/** A task at a server, and the call that it continues. */
export interface FollowedCall {
  remote: Pick<RemoteTask, 'id' | 'since' | 'ttl'>;
  parts: Pick<CallParts, 'name' | 'server' | 'connection' | 'clock' | 'secrets'>;
  run: Pick<ToolRun, 'signal' | 'hasEnded'>;
  deadline: CallDeadline;
  wait: WaitAtServer;
  people: AskedPeople;
  /** Receives each change of the server's message about the task. */
  onMessage: (message: string, session: McpSession) => void;
}

/** A result, and the session in which it arrived. */
export interface FollowedResult {
  result: CallResult;
  session: McpSession;
}

/**
 * Follows a task at its server to its end, over lost connections, and returns its result. A call that is aborted or late
 * cancels the task at the server, unless another daemon or the next start continues the call. `task` is its first state;
 * `null` if unknown. Rejects with a ToolError.
 */
export async function followTask(
  call: FollowedCall,
  task: ServerTask | null,
): Promise<FollowedResult> {
  const { remote, parts, run, deadline } = call;
  const { followed } = parts.connection;
  if (followed.has(remote.id)) throw strayTask(parts.name);
  followed.add(remote.id);
  const signal = AbortSignal.any([run.signal, deadline.signal]);
  try {
    return await new Follower(call, signal).follow(task);
  } catch (error) {
    if (signal.aborted) throw await stopped(call);
    if (error instanceof ToolError && error.kind === refusedInput) await cancelAtServer(call);
    throw error instanceof ToolError ? error : failedCall(parts.name, error);
  } finally {
    followed.delete(remote.id);
  }
}

class Follower {
  readonly #call: FollowedCall;
  readonly #signal: AbortSignal;
  /** Keys of the answered questions. */
  readonly #answered = new Set<string>();
  #message: string | null = null;

  constructor(call: FollowedCall, signal: AbortSignal) {
    this.#call = call;
    this.#signal = signal;
  }

  /** Rejects with ToolError, with an SDK error, and with any error once the call is aborted. */
  async follow(first: ServerTask | null): Promise<FollowedResult> {
    const { parts, remote, people } = this.#call;
    let task = first;
    while (task === null || task.status === 'working' || (await this.#isAnswered(task))) {
      if (task !== null) await this.#pause(task.pause);
      task = await this.#ask((session) => this.#stateOf(session));
    }
    const ended = task;
    if (ended.status === 'cancelled') throw cancelledCall(parts.name);
    return this.#ask(async (session) => {
      const asking = { ask: people.ask, signal: this.#signal };
      const result = await session.taskResult(remote.id, ended, asking).catch((error: unknown) => {
        throw error instanceof ProtocolError ? this.#failed(error, session) : error;
      });
      return { result, session };
    });
  }

  /** An error within a result has not passed the redaction of errors. */
  #failed({ code, message }: ProtocolError, session: McpSession): ToolError {
    const { name, secrets } = this.#call.parts;
    const said = redactSecrets(message, [...secrets, ...session.secrets]);
    return failedCall(name, new ProtocolError(code, said));
  }

  /** Answers the questions of a task, each once. Returns false for a task that has none in its state. */
  async #isAnswered({ status, said }: ServerTask): Promise<boolean> {
    if (status !== 'input_required') return false;
    const { people, remote } = this.#call;
    people.check();
    const session = await this.#session();
    if (!session.hasQuestionsInState) return false;
    const open = Object.entries((said['inputRequests'] ?? {}) as JsonObject).filter(
      ([key]) => !this.#answered.has(key),
    );
    if (open.length === 0) return true;
    const answers = await people.askAll(Object.fromEntries(open));
    for (const key of Object.keys(answers)) this.#answered.add(key);
    await this.#ask((current) => current.updateTask(remote.id, answers));
    return true;
  }

  async #stateOf(session: McpSession): Promise<ServerTask> {
    const { parts, remote, wait, onMessage } = this.#call;
    const task = await session.taskState(remote.id).catch((error: unknown) => {
      throw error instanceof ProtocolError ? unknownTask(parts.name, error) : error;
    });
    if (task.id !== remote.id) throw strayTask(parts.name);
    wait.hear(task.said);
    if (task.message !== null && task.message !== this.#message) {
      this.#message = task.message;
      onMessage(task.message, session);
    }
    return task;
  }

  /** Asks the server until it answers, over lost connections. */
  async #ask<Answer>(ask: (session: McpSession) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const session = await this.#session();
      try {
        return await ask(session);
      } catch (error) {
        if (this.#signal.aborted || error instanceof ToolError) throw error;
        if (isLoss(error)) session.lose(error);
        else if (session.isOpen && !isPassing(error)) throw error;
        await this.#pause(error instanceof HttpRefusal ? error.retryAfter : null);
      }
    }
  }

  /** Waits for the server, at most until it may have discarded the task. */
  async #session(): Promise<McpSession> {
    const { parts, remote } = this.#call;
    const { clock, connection, name } = parts;
    const left = remote.since + (remote.ttl ?? longestTtl) - clock.now();
    const gone = timeLimit(clock, Math.min(longestTtl, Math.max(0, left)));
    try {
      const session = await connection.session(AbortSignal.any([this.#signal, gone.signal]));
      if (session !== null) return session;
      if (gone.signal.aborted && !this.#signal.aborted) throw endedCall(name, 'lost');
      // The daemon stops, and the next start continues the call.
      return await new Promise((_, reject) => {
        this.#signal.addEventListener('abort', reject, { once: true });
        if (this.#signal.aborted) reject(new Error('the call was aborted'));
      });
    } finally {
      gone.clear();
    }
  }

  async #pause(stated: number | null): Promise<void> {
    const { remote, parts } = this.#call;
    const age = parts.clock.now() - remote.since;
    const shortest = Math.max(shortestPause, Math.min(oldPause, pauseShare * age));
    const pause = Math.min(longestPause, Math.max(shortest, stated ?? usualPause));
    await rest(pause, parts.clock, this.#signal);
    this.#signal.throwIfAborted();
  }
}

/** Returns whether a request may be repeated after a pause. */
function isPassing(error: unknown): boolean {
  if (error instanceof HttpRefusal) return error.status === 429 || error.status >= 500;
  return error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
}

async function stopped(call: FollowedCall): Promise<ToolError> {
  const { run, parts, wait } = call;
  const { name, server } = parts;
  const isStopped = run.signal.aborted;
  if (isStopped && (await run.hasEnded?.()) === false) return endedCall(name, 'stopped');
  const session = await cancelAtServer(call);
  if (isStopped) return endedCall(name, 'stopped');
  const hasRun = session === null || !(await wait.hasNeverRun(session));
  return hasRun ? endedCall(name, 'timeout') : calledOff(name, server, wait.said);
}

/** Cancels a task at its server, and returns the session; `null` if the server cannot be reached. Never rejects. */
async function cancelAtServer({ remote, parts }: FollowedCall): Promise<McpSession | null> {
  const limit = timeLimit(parts.clock, cancelPatience);
  const session = await parts.connection.session(limit.signal);
  limit.clear();
  await session?.cancelTask(remote.id);
  return session;
}
