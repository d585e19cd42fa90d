import type { Progress } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../machines/json.ts';
import { redactSecrets } from '../../governance/governance.ts';
import { ToolError, type ToolProgress, type ToolRun } from '../../ports/tool.ts';
import { rest } from '../../rest.ts';
import { AskedPeople } from './asked-people.ts';
import type { CallAnswer } from './call-answer.ts';
import { CallDeadline } from './call-deadline.ts';
import { calledOff, type Ending, endedCall, failedCall, questionedCall } from './call-failure.ts';
import { type CallParts, currentSession, limitsOf } from './call-parts.ts';
import { isLoss, isUndone } from './connection-fault.ts';
import type { FollowedResult } from './follow-task.ts';
import { HttpRefusal } from './http-refusal.ts';
import type { McpSession } from './mcp-session.ts';
import type { OfferedTool } from './offered-tool.ts';
import { continueCall } from './remote-call.ts';
import { ServerFault } from './server-fault.ts';
import { WaitAtServer } from './wait-at-server.ts';

/** Pause before a call is repeated for a server that asks nothing, in milliseconds. */
const retryPause = 1_000;

/** Maximum attempts of one call that its server answers with questions. */
const mostRounds = 10;

/** A call and the tool that it is for. */
export interface ServerCallParts extends CallParts {
  offered: OfferedTool;
  /** Receives the end of the request for a call, with its time in milliseconds. */
  onCalled?: (took: number, hasFailed: boolean) => void;
}

/** One call of a server's tool, through questions and a task, to its result. */
export class ServerCall {
  readonly #parts: ServerCallParts;
  readonly #args: JsonObject;
  readonly #run: ToolRun;
  readonly #deadline: CallDeadline;
  readonly #wait: WaitAtServer;
  readonly #people: AskedPeople;
  readonly #signal: AbortSignal;
  #session: McpSession;
  /** True once the server has asked: it has begun, so the call is not made from its start again. */
  #hasAsked = false;

  constructor(session: McpSession, parts: ServerCallParts, args: JsonObject, run: ToolRun) {
    this.#session = session;
    this.#parts = parts;
    this.#args = args;
    this.#run = run;
    this.#deadline = new CallDeadline(parts.clock, limitsOf(parts));
    this.#wait = new WaitAtServer(parts.server, run.onWait);
    this.#signal = AbortSignal.any([run.signal, this.#deadline.signal]);
    const secrets = [...parts.secrets, ...session.secrets];
    this.#people = new AskedPeople({ ...parts, secrets }, run, this.#signal);
  }

  /** Rejects with a ToolError, such as UndoneCall. */
  async result(): Promise<FollowedResult> {
    try {
      let answer = await this.#counted();
      for (let rounds = 1; answer.kind === 'questions'; rounds += 1) {
        answer = await this.#answered(answer, rounds);
      }
      if (answer.kind === 'result') return { result: answer.result, session: this.#session };
      const deadline = this.#deadline;
      deadline.relax();
      const wait = this.#wait;
      wait.hear(answer.task.said);
      const call = { deadline, wait, people: this.#people };
      return await continueCall(call, answer.task, this.#parts, this.#run);
    } catch (error) {
      throw await this.#failure(error);
    } finally {
      this.#deadline.end();
      this.#wait.end();
    }
  }

  async #counted(): Promise<CallAnswer> {
    const began = performance.now();
    const count = (hasFailed: boolean): void =>
      this.#parts.onCalled?.(performance.now() - began, hasFailed);
    try {
      const answer = await this.#made();
      count(false);
      return answer;
    } catch (error) {
      count(!this.#run.signal.aborted);
      throw error;
    }
  }

  /** Asks people, and makes the call again with their answers. */
  async #answered(
    { requests, state }: Extract<CallAnswer, { kind: 'questions' }>,
    rounds: number,
  ): Promise<CallAnswer> {
    const { name, clock } = this.#parts;
    if (rounds > mostRounds) throw questionedCall(name);
    this.#hasAsked = true;
    const inputResponses = await this.#deadline.paused(() => this.#people.askAll(requests, rounds));
    if (Object.keys(requests).length === 0) await rest(retryPause, clock, this.#signal);
    // The server may have been connected again by then.
    const session = await currentSession(this.#parts, this.#signal);
    if (session === null) throw new ServerFault('is not there');
    this.#session = session;
    await this.#run.confirm?.();
    return this.#made({
      inputResponses,
      ...(state === undefined ? {} : { requestState: state }),
    });
  }

  #made(answers: object = {}): Promise<CallAnswer> {
    const { secrets, offered } = this.#parts;
    const hidden = [...secrets, ...this.#session.secrets];
    return this.#session.call(offered, this.#args, {
      answers,
      signal: this.#signal,
      ask: (question) => this.#deadline.paused(() => this.#people.ask(question)),
      onProgress: (said) => {
        this.#deadline.moved();
        if (!this.#wait.hear(said)) this.#run.onProgress?.(shownProgress(said, hidden));
      },
    });
  }

  async #failure(error: unknown): Promise<ToolError> {
    if (error instanceof ToolError) return error;
    const { name, server } = this.#parts;
    const session = this.#session;
    const ending = this.#ending();
    if (ending === 'timeout' && (await this.#wait.hasNeverRun(session))) {
      return calledOff(name, server, this.#wait.said);
    }
    const isRepeatable = isUndone(error) && !this.#hasAsked;
    if (ending !== null && (ending !== 'lost' || !isRepeatable)) return endedCall(name, ending);
    if (isLoss(error)) session.lose(error);
    else if (error instanceof HttpRefusal) session.doubt();
    return isUndone(error) && !isRepeatable ? endedCall(name, 'lost') : failedCall(name, error);
  }

  #ending(): Ending | null {
    if (this.#run.signal.aborted) return 'stopped';
    if (this.#deadline.signal.aborted) return 'timeout';
    return this.#session.isOpen ? null : 'lost';
  }
}

function shownProgress(
  { progress, total, message }: Progress,
  secrets: readonly string[],
): ToolProgress {
  return {
    progress,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message: redactSecrets(message, secrets) }),
  };
}
