import { assign, fromCallback, setup } from 'xstate';
import type { A2aLineJson, A2aSendJson } from '../../../../http/wire/dashboard/a2a-json.ts';

type ConsoleEvent =
  | { type: 'request.sent'; request: A2aSendJson }
  | { type: 'request.stopped' }
  | { type: 'line.came'; line: A2aLineJson }
  | { type: 'line.last' };

interface ConsoleContext {
  request: A2aSendJson | null;
  status: number | null;
  headers: Record<string, string>;
  text: string;
  end: { bytes: number; ms: number } | null;
  problem: string | null;
}

/** Maximum stored characters of a response. */
const longest = 256 * 1024;

const nothing = { status: null, headers: {}, text: '', end: null, problem: null } as const;

/** One request of the console and its streamed response. */
export const consoleMachine = setup({
  types: { context: {} as ConsoleContext, events: {} as ConsoleEvent },
  actors: {
    /** Sends the request, reports each line of the response, and then the end. */
    send: fromCallback<ConsoleEvent, A2aSendJson | null>(() => undefined),
  },
  actions: {
    noteRequest: assign((_, { request }: { request: A2aSendJson }) => ({ request, ...nothing })),
    noteLine: assign(({ context }, { line }: { line: A2aLineJson }) => {
      if ('status' in line) return { status: line.status, headers: line.headers };
      if ('text' in line) return { text: (context.text + line.text).slice(0, longest) };
      return 'end' in line ? { end: line.end } : { problem: line.problem };
    }),
  },
}).createMachine({
  id: 'console',
  context: { request: null, ...nothing },
  initial: 'resting',
  states: {
    resting: {
      description: 'Idle.',
      on: {
        'request.sent': {
          target: 'sending',
          actions: { type: 'noteRequest', params: ({ event }) => ({ request: event.request }) },
        },
      },
    },
    sending: {
      description: 'Receiving the answer.',
      invoke: { src: 'send', input: ({ context }) => context.request },
      on: {
        'line.came': {
          actions: { type: 'noteLine', params: ({ event }) => ({ line: event.line }) },
        },
        'line.last': 'resting',
        'request.stopped': 'resting',
      },
    },
  },
});
