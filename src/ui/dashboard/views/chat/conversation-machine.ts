import { assign, fromCallback, fromPromise, setup, spawnChild, stopChild } from 'xstate';
import type { TaskDetailJson } from '../../../../http/wire/dashboard/task-detail-json.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import { withRecalled } from './recalled-calls.ts';
import {
  isOver,
  newTurn,
  type ToldProgress,
  type ToldTask,
  type Turn,
  withoutUnfinished,
  withProgress,
  withTask,
} from './turn.ts';

/** What is listened to: the answer to a message that is sent with it, or a task that runs. */
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
  /** The task that is listened to; `null` before the agent has named it. */
  task: string | null;
  /** Words that did not reach the agent, for the field they were typed into. */
  unsent: string;
  problem: string | null;
  failures: number;
}

/** A session as it was read: its turns, and the task that runs in it. */
export interface OpenedSession {
  turns: Turn[];
  running: string | null;
}

const empty = { turns: [], task: null, unsent: '', problem: null, failures: 0 };

/**
 * A conversation with one agent. A message is sent once: a stream that breaks off before the agent has named its task
 * gives the words back, one that breaks off later is joined again.
 */
export const conversationMachine = setup({
  types: {
    context: {} as ConversationContext,
    events: {} as ConversationEvent,
    input: {} as { session: string | null },
  },
  actors: {
    /** Reads a session. Rejects with an error whose message is a sentence. */
    open: fromPromise<OpenedSession, { session: string | null }>(() =>
      Promise.resolve({ turns: [], running: null }),
    ),
    /** Reads the tasks of a session that was opened, for the calls that its messages do not tell of. */
    recall: fromCallback<ConversationEvent, { session: string }>(() => undefined),
    /** Sends the message, or joins the task, and tells what comes until `stream.ended`. */
    listen: fromCallback<ConversationEvent, Listening>(() => undefined),
    /** Cancels the task; what becomes of it is told by the stream. */
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
    /** The words that are being written are told from their beginning to whoever joins. */
    dropUnfinished: assign(({ context }) => ({
      turns: changeLast(context.turns, withoutUnfinished),
    })),
    countFailure: assign(({ context }) => ({ failures: context.failures + 1 })),
    noteProblem: assign((_, { problem }: { problem: string }) => ({ problem })),
  },
  guards: {
    isOver: (_, { state }: { state: string }) => isOver(state),
    isHeld: (_, { state }: { state: string }) => state === 'deferred',
    isNew: ({ context }, { task, state }: { task: string; state: string }) =>
      !isOver(state) && !context.turns.some((turn) => turn.task === task && isOver(turn.state)),
    isNamed: ({ context }) => context.task !== null,
    hasSession: ({ context }) => context.session !== null,
    runs: (_, { running }: OpenedSession) => running !== null,
  },
  delays: {
    /** 0.5 s to 8 s, doubled with each failure. */
    backOff: ({ context }) => Math.min(8_000, 250 * 2 ** context.failures),
  },
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
      description: 'The messages of a session are read.',
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
      description: 'The agent waits for words.',
      on: {
        'message.sent': {
          target: 'answering',
          actions: { type: 'beginTurn', params: ({ event }) => event },
        },
        'task.seen': {
          // Somebody writes in the same session, such as another tab.
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
                  problem: event.problem ?? 'The agent took no message; send it again.',
                }),
              },
            ],
          },
        ],
      },
      states: {
        sending: { description: 'The agent has not named a task yet.' },
        streaming: { description: 'The agent works, and its words come as it writes them.' },
        held: { description: 'A call waits for a person.', tags: 'held' },
        stopping: {
          description: 'The agent was told to stop.',
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
      description: 'The stream broke off; the task goes on.',
      tags: 'busy',
      entry: 'countFailure',
      exit: 'dropUnfinished',
      after: { backOff: 'answering' },
    },
  },
});

/** A session that was read while its last task runs shows that task once, as it is told. */
function withoutTail(turns: readonly Turn[], running: string): Turn[] {
  const last = turns.at(-1);
  const isItsMessage = last !== undefined && last.asked !== null && last.parts.length === 0;
  const before = isItsMessage ? turns.slice(0, -1) : turns;
  return [...before, { ...newTurn(isItsMessage ? last.asked : null), task: running }];
}

function changeLast(turns: readonly Turn[], change: (turn: Turn) => Turn): Turn[] {
  return turns.map((turn, index) => (index === turns.length - 1 ? change(turn) : turn));
}
