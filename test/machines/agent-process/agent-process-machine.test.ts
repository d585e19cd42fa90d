import { describe, expect, it } from 'vitest';
import {
  createActor,
  fromPromise,
  getInitialSnapshot,
  type SnapshotFrom,
  transition,
  waitFor,
} from 'xstate';
import {
  type AgentProcessEvent,
  agentProcessMachine,
  agentProcessState,
  type HaltInput,
  type LaunchInput,
} from '../../../src/machines/agent-process/agent-process-machine.ts';
import type { ServedAgent } from '../../../src/machines/agent-process/served-agent.ts';

type Snapshot = SnapshotFrom<typeof agentProcessMachine>;

const served = { pid: 7, host: '127.0.0.1', port: 8080, startedAt: '2026-07-01T09:00:00.000Z' };
const running: AgentProcessEvent = { type: 'process.seen', sighting: { kind: 'served', served } };
const gone: AgentProcessEvent = {
  type: 'process.seen',
  sighting: { kind: 'missing', error: null },
};
const crashed: AgentProcessEvent = {
  type: 'process.seen',
  sighting: { kind: 'missing', error: 'out of memory' },
};
const start: AgentProcessEvent = { type: 'agent.start', passphrase: 'open sesame' };
const stop: AgentProcessEvent = { type: 'agent.stop' };
const restart: AgentProcessEvent = { type: 'agent.restart', passphrase: null };

/** What an invoked promise comes to. */
const done = (actor: string, output?: unknown) =>
  ({ type: `xstate.done.actor.${actor}`, actorId: actor, output }) as never;
const failed = (actor: string, message: string) =>
  ({ type: `xstate.error.actor.${actor}`, actorId: actor, error: new Error(message) }) as never;

const starting = '0.agentProcess.starting';
const stopping = '0.agentProcess.running.stopping';
const restarting = '0.agentProcess.running.restarting';

function after(...events: AgentProcessEvent[]): Snapshot {
  return events.reduce<Snapshot>(
    (snapshot, event) => transition(agentProcessMachine, snapshot, event)[0],
    getInitialSnapshot(agentProcessMachine),
  );
}

function told({ value, context: { served: process, error } }: Snapshot) {
  return { value, state: agentProcessState(value), pid: process?.pid ?? null, error };
}

const stopped = { value: 'stopped', state: 'stopped', pid: null, error: null };
const serving = { value: { running: 'serving' }, state: 'running', pid: 7, error: null };

describe('the process of an agent', () => {
  it('follows the observed state, because the agent may be started and stopped elsewhere', () => {
    expect(told(after())).toEqual(stopped);
    expect(told(after(gone))).toEqual(stopped);
    expect(told(after(running))).toEqual(serving);
    expect(told(after(running, gone))).toEqual(stopped);
    const broken = { value: 'errored', state: 'errored', pid: null, error: 'out of memory' };
    expect(told(after(crashed))).toEqual(broken);
    expect(told(after(running, crashed))).toEqual(broken);
    expect(told(after(running, crashed, running))).toEqual(serving);
    const another: AgentProcessEvent = {
      type: 'process.seen',
      sighting: { kind: 'served', served: { ...served, pid: 8 } },
    };
    expect(told(after(running, another))).toEqual({ ...serving, pid: 8 });
    const again: AgentProcessEvent = {
      type: 'process.seen',
      sighting: { kind: 'missing', error: 'killed' },
    };
    expect(told(after(crashed, again))).toEqual({ ...broken, error: 'killed' });
  });

  it('stays errored until the next start', () => {
    expect(told(after(crashed, gone)).value).toBe('errored');
    expect(told(after(crashed, start))).toEqual({
      ...{ value: 'starting', state: 'starting', pid: null, error: null },
    });
  });

  it('keeps the passphrase only during the start', () => {
    const begun = after(start);
    expect(told(begun)).toEqual({ value: 'starting', state: 'starting', pid: null, error: null });
    expect(begun.context.passphrase).toBe('open sesame');
    const up = after(start, done(starting, served));
    expect(told(up)).toEqual(serving);
    expect(up.context.passphrase).toBeNull();
    const broken = after(start, failed(starting, 'a variable is missing'));
    expect(told(broken)).toEqual({
      ...{ value: 'errored', state: 'errored', pid: null, error: 'a variable is missing' },
    });
    expect(broken.context.passphrase).toBeNull();
  });

  it('does not take an observation during a start or a stop for an exit', () => {
    for (const event of [gone, crashed, running]) {
      expect(told(after(start, event)).value).toBe('starting');
      expect(told(after(running, stop, event)).value).toEqual({ running: 'stopping' });
      expect(told(after(running, restart, event)).value).toEqual({ running: 'restarting' });
    }
  });

  it('is reported as running until it has stopped', () => {
    expect(told(after(running, stop))).toEqual({ ...serving, value: { running: 'stopping' } });
    expect(told(after(running, stop, done(stopping)))).toEqual(stopped);
    expect(told(after(running, stop, failed(stopping, 'it is not ours')))).toEqual({
      ...serving,
      error: 'it is not ours',
    });
  });

  it('starts again after it has stopped', () => {
    const again = after(running, restart, done(restarting));
    expect(told(again)).toEqual({ value: 'starting', state: 'starting', pid: null, error: null });
    const secret = { ...restart, passphrase: 'kept' } as AgentProcessEvent;
    expect(after(running, secret).context.passphrase).toBe('kept');
    const kept = after(running, secret, failed(restarting, 'it is not ours'));
    expect(told(kept)).toEqual({ ...serving, error: 'it is not ours' });
    expect(kept.context.passphrase).toBeNull();
  });

  it('ignores commands that do not fit its state', () => {
    for (const [states, refused] of [
      [[], [stop, restart]],
      [[crashed], [stop, restart]],
      [[running], [start]],
      [[start], [start, stop, restart]],
      [
        [running, stop],
        [start, stop, restart],
      ],
      [
        [running, restart],
        [start, stop, restart],
      ],
    ] as const) {
      for (const event of refused) expect(after(...states).can(event)).toBe(false);
    }
  });

  it('is launched with its passphrase, and stopped by the observed process id', async () => {
    const asked: unknown[] = [];
    const launch = fromPromise<ServedAgent, LaunchInput>(async ({ input }) => {
      asked.push(['launch', input]);
      return served;
    });
    const halt = fromPromise<void, HaltInput>(
      async ({ input }) => void asked.push(['halt', input]),
    );
    const filled = agentProcessMachine.provide({ actors: { launch, halt } });
    const actor = createActor(filled).start();
    const settled = () => waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
    actor.send(start);
    expect(actor.getSnapshot().hasTag('settled')).toBe(false);
    await settled();
    actor.send(restart);
    await settled();
    actor.send(stop);
    expect(told(await settled())).toEqual(stopped);
    expect(asked).toEqual([
      ['launch', { passphrase: 'open sesame' }],
      ['halt', { served }],
      ['launch', { passphrase: null }],
      ['halt', { served }],
    ]);
  });

  it('reports an error when its launch and stop ports are not connected', async () => {
    const error = 'the port is not filled';
    const actor = createActor(agentProcessMachine).start();
    const settled = () => waitFor(actor, (snapshot) => snapshot.hasTag('settled'));
    actor.send(start);
    expect(told(await settled())).toEqual({ value: 'errored', state: 'errored', pid: null, error });
    actor.send(running);
    for (const order of [stop, restart]) {
      actor.send(order);
      expect(told(await settled())).toEqual({ ...serving, error });
    }
  });

  it('clears the stop error after a clean exit', () => {
    const refused = after(running, stop, failed(stopping, 'it is not ours'));
    expect(told(transition(agentProcessMachine, refused, gone)[0])).toEqual(stopped);
    const [asked] = transition(agentProcessMachine, refused, stop);
    expect(told(transition(agentProcessMachine, asked, done(stopping))[0])).toEqual(stopped);
  });
});
