import { describe } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import {
  agentProcessMachine,
  type Sighting,
} from '../../../src/machines/agent-process/agent-process-machine.ts';
import { type Happenings, walkChart } from '../../helpers/chart-walk.ts';
import { openGatedAgent } from './open-gated-agent.ts';

const isIn = (state: string | object) => (snapshot: AnyMachineSnapshot) => snapshot.matches(state);
const rests = (snapshot: AnyMachineSnapshot) =>
  snapshot.matches('stopped') || snapshot.matches('errored');
const isEnding = (snapshot: AnyMachineSnapshot) =>
  snapshot.matches({ running: 'stopping' }) || snapshot.matches({ running: 'restarting' });

const served = { pid: 1, host: '127.0.0.1', port: 1, startedAt: '2026-07-01T09:00:00Z' };
const seen = (sighting: Sighting) => ({ type: 'process.seen', sighting });
const missing = (error: string | null) => seen({ kind: 'missing', error });

const orders = {
  start: { type: 'agent.start', passphrase: null },
  stop: { type: 'agent.stop' },
  restart: { type: 'agent.restart', passphrase: null },
};
const ended = (outcome: 'done' | 'error') => (snapshot: AnyMachineSnapshot) => ({
  type: `xstate.${outcome}.actor.0.agentProcess.running.${snapshot.value.running}`,
  error: new Error('it'),
});

const happenings: Happenings<ReturnType<typeof openGatedAgent>> = {
  'it is started': { event: orders.start, in: rests, happen: (agent) => agent.start() },
  'it answers': {
    event: { type: 'xstate.done.actor.0.agentProcess.starting', output: served },
    in: isIn('starting'),
    happen: (agent) => agent.begin('go'),
  },
  'it fails to start': {
    event: { type: 'xstate.error.actor.0.agentProcess.starting', error: new Error('it') },
    in: isIn('starting'),
    happen: (agent) => agent.begin('no'),
  },
  'it is stopped': {
    event: orders.stop,
    in: isIn({ running: 'serving' }),
    happen: (agent) => agent.stop(),
  },
  'it is restarted': {
    event: orders.restart,
    in: isIn({ running: 'serving' }),
    happen: (agent) => agent.restart(),
  },
  'it ends': { event: ended('done'), in: isEnding, happen: (agent) => agent.end() },
  'its end cannot be seen to': {
    event: ended('error'),
    in: isEnding,
    happen: async (agent) => {
      await agent.block();
      await agent.end();
    },
  },
  'somebody looks': {
    event: (snapshot) => {
      if (snapshot.matches('running')) return seen({ kind: 'served', served });
      return missing(snapshot.matches('errored') ? 'it' : null);
    },
    happen: (agent) => agent.look(),
  },
  'it is started elsewhere': {
    event: seen({ kind: 'served', served }),
    in: rests,
    happen: (agent) => agent.appear(),
  },
  'it has crashed elsewhere': {
    event: missing('it'),
    in: rests,
    happen: (agent) => agent.crashUnseen(),
  },
  'it crashes': {
    event: missing('it'),
    in: isIn({ running: 'serving' }),
    happen: (agent) => agent.crash(),
  },
  'it is stopped elsewhere': {
    event: missing(null),
    in: isIn({ running: 'serving' }),
    happen: (agent) => agent.disappear(),
  },
};

describe('the shortest paths of the process of an agent', () => {
  walkChart(agentProcessMachine, happenings, openGatedAgent);
});
