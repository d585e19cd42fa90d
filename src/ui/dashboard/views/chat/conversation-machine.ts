import { assign, fromCallback, fromPromise, setup, spawnChild, stopChild } from 'xstate';
import type { TaskDetailJson } from '../../../../http/wire/dashboard/task-detail-json.ts';
import { isFinal } from '../../../../machines/domain/task.ts';
import { reconnectDelay } from '../../api/reconnect-delay.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import { withRecalled } from './recalled-calls.ts';
import {
  newTurn,
  type ToldProgress,
  type ToldTask,
  type Turn,
  withoutUnfinished,
  withProgress,
  withTask,
} from './turn.ts';

/** The stream to read: the response to a message sent with it, or a running task. */
export type Listening =
  | { message: string; session: string | null; task: null }
  | { message: null; session: string | null; task: string };

export type ConversationEvent =
  | { type: 'message.sent'; message: string }
  | { type: 'session.chosen'; session: string }
  | { type: 'session.left' }
  | { type: 'task.seen'; task: string; state: string }
  | { type: 'task.recalled'; task: string; detail: TaskDetailJson }
  | { type: 'task.told'; task: ToldTask }
  | { type: 'progress.told'; progress: ToldProgress }
  | { type: 'stream.ended'; problem: string | null }
  | { type: 'stop.asked' }
  | { type: 'stop.failed'; problem: string };

interface ConversationContext {
  session: string | null;
  turns: Turn[];
  /** The task of the stream; `null` until the agent has named it. */
  task: string | null;
  /** Text that did not reach the agent, returned to its field. */
  unsent: string;
  problem: string | null;
  failures: number;
}

/** A loaded session: its turns, and its running task. */
export interface OpenedSession {
  turns: Turn[];
  running: string | null;
}

const empty = { turns: [], task: null, unsent: '', problem: null, failures: 0 };

/**
 * A conversation with one agent. A message is sent once. If the stream breaks before the agent has named the task, the
 * text is returned to its field; if it breaks later, it is rejoined.
 */
export const conversationMachine = setup({
  types: {
    context: {} as ConversationContext,
    events: {} as ConversationEvent,
    input: {} as { session: string | null },
  },
  actors: {
    /** Loads a session. Rejects with an error whose message is a sentence. */
    open: fromPromise<OpenedSession, { session: string | null }>(() =>
      Promise.resolve({ turns: [], running: null }),
    ),
    /** Loads the tasks of an opened session, because its messages do not contain the tool calls. */
    recall: fromCallback<ConversationEvent, { session: string }>(() => undefined),
    /** Sends the message or joins the task, and reports events until `stream.ended`. */
    listen: fromCallback<ConversationEvent, Listening>(() => undefined),
    /** Cancels the task; the stream reports the result. */
    stop: fromCallback<ConversationEvent, { task: string }>(() => undefined),
  },
  actions: {
    beginTurn: assign(({ context }, { message }: { message: string }) => ({
      turns: [...context.turns, newTurn(message)],
      task: null,
      unsent: '',
      problem: null,
      failures: 0,
    })),
    chooseSession: assign((_, { session }: { session: string | null }) => ({ ...empty, session })),
    noteOpened: assign(({ context }, { turns, running }: OpenedSession) => ({
      turns:
        running === null || turns.at(-1)?.task === running ? turns : withoutTail(turns, running),
      task: running,
      problem: null,
      session: context.session,
    })),
    noteRecalled: assign(
      ({ context }, { task, detail }: { task: string; detail: TaskDetailJson }) => ({
        turns: withRecalled(context.turns, task, detail),
      }),
    ),
    joinTask: assign(({ context }, { task }: { task: string }) => ({
      turns: [...context.turns, { ...newTurn(null), task }],
      task,
      problem: null,
      failures: 0,
    })),
    noteTask: assign(({ context }, { task }: { task: ToldTask }) => ({
      session: task.session,
      task: task.id,
      failures: 0,
      turns: changeLast(context.turns, (turn) => withTask(turn, task)),
    })),
    noteProgress: assign(({ context }, { progress }: { progress: ToldProgress }) => ({
      turns: changeLast(context.turns, (turn) => withProgress(turn, progress)),
    })),
    giveBack: assign(({ context }) => ({
      unsent: context.turns.at(-1)?.asked ?? '',
      turns: context.turns.slice(0, -1),
    })),
    /** A joining client receives unfinished output again from its start. */
    dropUnfinished: assign(({ context }) => ({
      turns: changeLast(context.turns, withoutUnfinished),
    })),
    countFailure: assign(({ context }) => ({ failures: context.failures + 1 })),
    noteProblem: assign((_, { problem }: { problem: string }) => ({ problem })),
  },
  guards: {
    isOver: (_, { state }: { state: string }) => isFinal(state),
    isHeld: (_, { state }: { state: string }) => state === 'deferred',
    isNew: ({ context }, { task, state }: { task: string; state: string }) =>
      !isFinal(state) && !context.turns.some((turn) => turn.task === task && isFinal(turn.state)),
    isNamed: ({ context }) => context.task !== null,
    hasSession: ({ context }) => context.session !== null,
    runs: (_, { running }: OpenedSession) => running !== null,
  },
  delays: { backOff: ({ context }) => reconnectDelay(context) },
}).createMachine({
  id: 'conversation',
  context: ({ input }) => ({ ...empty, session: input.session }),
  initial: 'arriving',
  on: {
    'session.chosen': {
      target: '.opening',
      actions: [stopChild('recall'), { type: 'chooseSession', params: ({ event }) => event }],
    },
    'session.left': {
      target: '.idle',
      actions: [stopChild('recall'), { type: 'chooseSession', params: { session: null } }],
    },
    'task.recalled': { actions: { type: 'noteRecalled', params: ({ event }) => event } },
  },
  states: {
    arriving: { always: [{ guard: 'hasSession', target: 'opening' }, { target: 'idle' }] },
    opening: {
      description: 'Loading a session.',
      tags: 'busy',
      invoke: {
        src: 'open',
        input: ({ context }) => ({ session: context.session }),
        onDone: [
          {
            guard: { type: 'runs', params: ({ event }) => event.output },
            target: 'answering',
            actions: [
              { type: 'noteOpened', params: ({ event }) => event.output },
              spawnChild('recall', {
                id: 'recall',
                input: ({ context }) => ({ session: context.session ?? '' }),
              }),
            ],
          },
          {
            target: 'idle',
            actions: [
              { type: 'noteOpened', params: ({ event }) => event.output },
              spawnChild('recall', {
                id: 'recall',
                input: ({ context }) => ({ session: context.session ?? '' }),
              }),
            ],
          },
        ],
        onError: {
          target: 'idle',
          actions: {
            type: 'noteProblem',
            params: ({ event }) => ({ problem: sentenceOf(event.error) }),
          },
        },
      },
    },
    idle: {
      description: 'Ready for a message.',
      on: {
        'message.sent': {
          target: 'answering',
          actions: { type: 'beginTurn', params: ({ event }) => event },
        },
        'task.seen': {
          // Another client, such as another tab, writes in the same session.
          guard: { type: 'isNew', params: ({ event }) => event },
          target: 'answering',
          actions: { type: 'joinTask', params: ({ event }) => event },
        },
      },
    },
    answering: {
      tags: 'busy',
      invoke: {
        src: 'listen',
        input: ({ context: { task, session, turns } }): Listening =>
          task === null
            ? { message: turns.at(-1)?.asked ?? '', session, task }
            : { message: null, session, task },
      },
      initial: 'sending',
      on: {
        'task.told': [
          {
            guard: { type: 'isOver', params: ({ event }) => event.task },
            target: 'idle',
            actions: { type: 'noteTask', params: ({ event }) => event },
          },
          {
            guard: { type: 'isHeld', params: ({ event }) => event.task },
            target: '.held',
            actions: { type: 'noteTask', params: ({ event }) => event },
          },
          {
            target: '.streaming',
            actions: { type: 'noteTask', params: ({ event }) => event },
          },
        ],
        'progress.told': { actions: { type: 'noteProgress', params: ({ event }) => event } },
        'stop.asked': { guard: 'isNamed', target: '.stopping' },
        'stream.ended': [
          { guard: 'isNamed', target: 'rejoining' },
          {
            target: 'idle',
            actions: [
              'giveBack',
              {
                type: 'noteProblem',
                params: ({ event }) => ({
                  problem: event.problem ?? 'The message was not accepted; send it again.',
                }),
              },
            ],
          },
        ],
      },
      states: {
        sending: { description: 'Waiting for the task id.' },
        streaming: { description: 'The task runs and its text is streamed.' },
        held: { description: 'A call needs approval.', tags: 'held' },
        stopping: {
          description: 'Cancelling.',
          tags: 'stopping',
          invoke: { src: 'stop', input: ({ context }) => ({ task: context.task ?? '' }) },
          on: {
            'stop.failed': {
              target: 'streaming',
              actions: { type: 'noteProblem', params: ({ event }) => event },
            },
          },
        },
      },
    },
    rejoining: {
      description: 'Connection lost; the task continues.',
      tags: 'busy',
      entry: 'countFailure',
      exit: 'dropUnfinished',
      after: { backOff: 'answering' },
    },
  },
});

/** A session loaded while its last task is running shows that task only once, from the stream. */
function withoutTail(turns: readonly Turn[], running: string): Turn[] {
  const last = turns.at(-1);
  const isItsMessage = last !== undefined && last.asked !== null && last.parts.length === 0;
  const before = isItsMessage ? turns.slice(0, -1) : turns;
  return [...before, { ...newTurn(isItsMessage ? last.asked : null), task: running }];
}

function changeLast(turns: readonly Turn[], change: (turn: Turn) => Turn): Turn[] {
  return turns.map((turn, index) => (index === turns.length - 1 ? change(turn) : turn));
}
