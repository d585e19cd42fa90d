import { assign, fromPromise, setup } from 'xstate';
import { messageOf } from '../message-of.ts';
import { unfilledPort } from '../unfilled-port.ts';
import type { ServedAgent } from './served-agent.ts';

/** The result of checking an agent's folder and port. */
export type Sighting =
  /** The agent of the folder runs. */
  | { kind: 'served'; served: ServedAgent }
  /** No agent runs; `error` tells how the last one ended, `null` for a clean end. */
  | { kind: 'missing'; error: string | null };

export type AgentProcessEvent =
  | { type: 'agent.start'; passphrase: string | null }
  | { type: 'agent.stop' }
  | { type: 'agent.restart'; passphrase: string | null }
  /** The folder was checked. */
  | { type: 'process.seen'; sighting: Sighting };

export interface LaunchInput {
  passphrase: string | null;
}

export interface HaltInput {
  served: ServedAgent | null;
}

export interface AgentProcessContext {
  /** The process that serves the agent; `null` if there is none. */
  served: ServedAgent | null;
  /** The reason why the process ended or could not be stopped; `null` if there is none. */
  error: string | null;
  /** Kept only until its start has finished. */
  passphrase: string | null;
}

/** The published states of an agent (docs/contract/dashboard.md). */
export type AgentProcessState = 'stopped' | 'starting' | 'running' | 'errored';

/** Maps the value of a snapshot to the published state. */
export function agentProcessState(value: string | object): AgentProcessState {
  return (typeof value === 'string' ? value : Object.keys(value)[0]) as AgentProcessState;
}

/** Names a guard or an action whose parameter is the sighting. */
const seen = <Type extends string>(type: Type) => ({
  type,
  params: ({ event }: { event: { sighting: Sighting } }) => event.sighting,
});

const given = {
  type: 'keepPassphrase',
  params: ({ event }: { event: { passphrase: string | null } }) => event.passphrase,
} as const;

const failed = {
  type: 'noteError',
  params: ({ event }: { event: { error: unknown } }) => event.error,
} as const;

/**
 * An agent's background process as seen by a watcher of its folder. The process survives the watcher, so an observation
 * always overrides the assumed state, except during a start or a stop.
 */
export const agentProcessMachine = setup({
  types: {
    context: {} as AgentProcessContext,
    events: {} as AgentProcessEvent,
    tags: {} as 'settled',
  },
  actors: {
    /** Port: starts the process and resolves once it responds. Rejects with an Error whose message is for users. */
    launch: fromPromise<ServedAgent, LaunchInput>(unfilledPort),
    /** Port: stops the process and resolves once it is gone. Rejects like `launch`. */
    halt: fromPromise<void, HaltInput>(unfilledPort),
  },
  actions: {
    noteServed: assign((_, served: ServedAgent) => ({ served, error: null })),
    noteSeen: assign((_, sighting: Sighting) =>
      sighting.kind === 'served'
        ? { served: sighting.served, error: null }
        : { served: null, error: sighting.error },
    ),
    noteError: assign((_, error: unknown) => ({
      error: messageOf(error),
    })),
    forgetServed: assign({ served: null }),
    forgetError: assign({ error: null }),
    keepPassphrase: assign((_, passphrase: string | null) => ({ passphrase })),
    forgetPassphrase: assign({ passphrase: null }),
  },
  guards: {
    isServed: (_, { kind }: Sighting) => kind === 'served',
    isCrash: (_, sighting: Sighting) => sighting.kind === 'missing' && sighting.error !== null,
  },
}).createMachine({
  id: 'agentProcess',
  description:
    'The background process of one agent as the dashboard sees it. Starts and stops by other programs are detected in its folder; an unexpected exit stays visible until the next start.',
  context: { served: null, error: null, passphrase: null },
  initial: 'stopped',
  states: {
    stopped: {
      description: 'No process runs; the last one was stopped on request.',
      tags: 'settled',
      on: {
        'agent.start': { target: 'starting', actions: given },
        'process.seen': [
          { guard: seen('isServed'), target: 'running', actions: seen('noteSeen') },
          { guard: seen('isCrash'), target: 'errored', actions: seen('noteSeen') },
        ],
      },
    },
    starting: {
      description: 'The process has started and does not respond yet.',
      entry: ['forgetServed', 'forgetError'],
      exit: 'forgetPassphrase',
      invoke: {
        src: 'launch',
        input: ({ context }) => ({ passphrase: context.passphrase }),
        onDone: {
          target: 'running',
          actions: { type: 'noteServed', params: ({ event }) => event.output },
        },
        onError: { target: 'errored', actions: failed },
      },
    },
    running: {
      description: 'A process serves the agent.',
      initial: 'serving',
      states: {
        serving: {
          description: 'The agent answers.',
          tags: 'settled',
          on: {
            'agent.stop': { target: 'stopping' },
            'agent.restart': { target: 'restarting', actions: given },
            'process.seen': [
              { guard: seen('isServed'), actions: seen('noteSeen') },
              {
                guard: seen('isCrash'),
                target: '#agentProcess.errored',
                actions: seen('noteSeen'),
              },
              { target: '#agentProcess.stopped', actions: seen('noteSeen') },
            ],
          },
        },
        stopping: {
          description: 'The process was asked to stop and drains.',
          invoke: {
            src: 'halt',
            input: ({ context }) => ({ served: context.served }),
            onDone: { target: '#agentProcess.stopped', actions: ['forgetServed', 'forgetError'] },
            onError: { target: 'serving', actions: failed },
          },
        },
        restarting: {
          description: 'The process was asked to stop; another one starts afterwards.',
          invoke: {
            src: 'halt',
            input: ({ context }) => ({ served: context.served }),
            onDone: { target: '#agentProcess.starting' },
            onError: { target: 'serving', actions: ['forgetPassphrase', failed] },
          },
        },
      },
    },
    errored: {
      description: 'The last process exited unexpectedly or never responded.',
      tags: 'settled',
      entry: 'forgetServed',
      on: {
        'agent.start': { target: 'starting', actions: given },
        'process.seen': [
          { guard: seen('isServed'), target: 'running', actions: seen('noteSeen') },
          { guard: seen('isCrash'), actions: seen('noteSeen') },
        ],
      },
    },
  },
});
