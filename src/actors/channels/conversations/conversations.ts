import { type ActorRefFrom, createActor, fromCallback, fromPromise } from 'xstate';
import { conversationMachine } from '../../../machines/channels/conversation-machine.ts';
import type { Asked, HeldCall, Spoken, Turn, Utterance } from '../../../machines/channels/turn.ts';
import { messageOf } from '../../../machines/message-of.ts';
import { isTaskId } from '../../../machines/task/task-id.ts';
import { NewestWrites } from '../../newest-writes.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ConversationRows } from '../../records/records.ts';
import type { ChatMessage } from '../conversation-port.ts';
import { within } from '../time-limit.ts';
import type { AgentSurface } from './agent-surface.ts';
import { followTurn } from './follow-turn.ts';
import { HeldThreads } from './held-threads.ts';
import { MessageIntake } from './message-intake.ts';
import { type SpeakPorts, speak } from './speak.ts';

export interface ConversationsOptions extends SpeakPorts {
  /** Without `tell`, messages sent while a call is held are answered after it. */
  surface: Pick<AgentSurface, 'ask' | 'follow'> & Partial<Pick<AgentSurface, 'tell' | 'cancel'>>;
  rows: ConversationRows;
  /** Maximum concurrent threads, 200 by default; further threads wait until one becomes idle. */
  mostThreads?: number;
  clock: Clock;
  log: Log;
}

type Thread = ActorRefFrom<typeof conversationMachine>;

const usualThreads = 200;

/** Maximum messages that wait for a thread or for the store. */
const mostWaiting = 1_000;

/** Pause after a store failure, in milliseconds. */
const storePause = 5_000;

/** Time to wait at shutdown for messages that are being stored, in milliseconds. */
const storePatience = 5_000;

/**
 * Turns chat messages into tasks, and their results into answers. Every message is stored until its last answer is
 * sent, so a restart resumes it.
 */
export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #threads = new Map<string, Thread>();
  readonly #speaking = new Set<Promise<unknown>>();
  readonly #intake: MessageIntake;
  readonly #writes: NewestWrites;
  readonly #held: HeldThreads;
  readonly #stopping = new AbortController();
  #waiting: Turn[] = [];
  /**
   * Resolves with whether stored messages of an earlier start are queued in their threads; new messages queue behind
   * them.
   */
  #resumed: Promise<boolean> = Promise.resolve(true);
  #nextStart: unknown = null;
  #isStopped = false;

  constructor(options: ConversationsOptions) {
    this.#options = options;
    this.#writes = new NewestWrites(options.clock);
    this.#held = new HeldThreads({ ...options, signal: this.#stopping.signal });
    this.#intake = new MessageIntake({ ...options, onNew: (turn) => this.#hand(turn) });
  }

  /** Resumes the messages without a final answer, as soon as the store can be read. */
  start(): void {
    this.#resumed = this.#resume();
  }

  /**
   * Accepts a message. A duplicate is dropped; a message that arrives during shutdown is answered after the next start.
   * Resolves with false if the message could not be stored, so that it can be redelivered. Never rejects.
   */
  async receive(message: ChatMessage): Promise<boolean> {
    const { log } = this.#options;
    const { adapter, id, thread } = message;
    if (!isTaskId(thread)) {
      log.error({ adapter }, 'conversation: a thread has no name that a task may have; report it');
      return true;
    }
    if (this.#waiting.length + this.#intake.size >= mostWaiting) {
      log.warn(
        { adapter, id },
        'conversation: a message was rejected: too many threads are waiting',
      );
      return false;
    }
    try {
      // Waits for the read of earlier messages; a message stored before it would be read and handled twice.
      return await this.#intake.take(message, () => this.#resumed);
    } catch (error) {
      this.#noteFailure(error);
      return false;
    }
  }

  /** Stops every thread; unanswered messages resume after the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopping.abort();
    this.#waiting = [];
    this.#options.clock.clearTimeout(this.#nextStart);
    for (const thread of this.#threads.values()) thread.stop();
    this.#threads.clear();
    await Promise.allSettled(this.#speaking);
    await Promise.all([
      this.#writes.stop(),
      within(this.#options.clock, storePatience, this.#intake.over()),
    ]);
  }

  async #resume(): Promise<boolean> {
    const { rows, clock } = this.#options;
    try {
      const turns = await rows.open();
      for (const turn of turns) this.#hand(turn);
      return true;
    } catch (error) {
      this.#noteFailure(error);
      if (!this.#isStopped) this.#nextStart = clock.setTimeout(() => this.start(), storePause);
      return false;
    }
  }

  /** If the thread's task waits for an approval, passes the message to that task; otherwise queues it. */
  #hand(turn: Turn): void {
    if (this.#isStopped) return;
    if (this.#held.has(turn.message.thread)) void this.#tracked(this.#pass(turn));
    else this.#takeInTurn(turn);
  }

  async #pass(turn: Turn): Promise<void> {
    const isPassed = await this.#held.pass(turn);
    if (this.#isStopped) return;
    if (isPassed) this.#write(turn.message, () => this.#options.rows.close(turn.message));
    else this.#takeInTurn(turn);
  }

  #takeInTurn(turn: Turn): void {
    const { thread } = turn.message;
    const { mostThreads = usualThreads } = this.#options;
    const found = this.#threads.get(thread);
    if (found !== undefined) found.send({ type: 'message.received', turn });
    else if (this.#threads.size < mostThreads) this.#open(turn);
    else this.#waiting.push(turn);
  }

  #open(turn: Turn): void {
    const { clock, log } = this.#options;
    const { thread: name } = turn.message;
    const thread = createActor(this.#logic(), { clock, input: { turn } });
    this.#threads.set(name, thread);
    thread.subscribe({
      complete: () => this.#over(name),
      error: (error) => {
        log.error({ error, task_id: name }, 'conversation: a thread broke');
        this.#over(name);
      },
    });
    thread.start();
  }

  #over(name: string): void {
    this.#threads.delete(name);
    for (const turn of this.#waiting.splice(0)) this.#hand(turn);
  }

  #logic() {
    const { rows, log } = this.#options;
    return conversationMachine.provide({
      actors: {
        ask: fromPromise<Asked, { turn: Turn }>(({ input, signal }) =>
          this.#options.surface.ask(input.turn, signal),
        ),
        follow: this.#follow(),
        speak: fromPromise<Spoken, { utterance: Utterance }>(({ input, signal }) =>
          this.#tracked(speak(input.utterance, this.#options, signal)),
        ),
      },
      actions: {
        keepTurn: (_, turn) => this.#write(turn.message, () => rows.keep(turn)),
        closeTurn: (_, message) => {
          if (message !== null) this.#write(message, () => rows.close(message));
        },
        noteUnsaid: (_, { utterance: { kind, to }, error }) =>
          log.warn(
            { adapter: to.adapter, task_id: to.thread, error: messageOf(error) },
            kind === 'say'
              ? 'conversation: a message could not be posted in its thread'
              : 'conversation: a reaction could not be added to its message',
          ),
      },
    });
  }

  #follow() {
    const { surface, clock } = this.#options;
    return fromCallback<{ type: string }, { turn: Turn }>(({ input, sendBack }) => {
      const left = new AbortController();
      const ear = {
        held: (call: HeldCall) => {
          this.#held.hold(input.turn, call);
          sendBack({ type: 'task.held', call });
        },
        resumed: () => {
          this.#held.release(input.turn);
          sendBack({ type: 'task.resumed' });
        },
        ended: (end: object) => {
          this.#held.release(input.turn);
          sendBack({ type: 'task.ended', end });
        },
      };
      void followTurn(input.turn, ear, { surface, clock, signal: left.signal });
      return () => {
        this.#held.release(input.turn);
        left.abort();
      };
    });
  }

  async #tracked<Result>(speaking: Promise<Result>): Promise<Result> {
    this.#speaking.add(speaking);
    try {
      return await speaking;
    } finally {
      this.#speaking.delete(speaking);
    }
  }

  #write(message: ChatMessage, write: () => Promise<void>): void {
    this.#writes.keep(nameOf(message), write, (error) => this.#noteFailure(error));
  }

  /** A store failure stops neither the daemon nor its chats. */
  #noteFailure(error: unknown): void {
    this.#options.log.error({ error }, 'conversation: the store failed');
  }
}

/** Returns an id that is unique across all adapters. */
function nameOf({ adapter, id }: ChatMessage): string {
  return `${adapter}:${id}`;
}
