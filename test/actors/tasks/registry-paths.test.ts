import { describe, expect, vi } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { registryMachine } from '../../../src/machines/registry/registry-machine.ts';
import { aPolicy } from '../../helpers/a-policy.ts';
import { type Happenings, walkChart } from '../../helpers/chart-walk.ts';
import { patient } from '../../helpers/patient.ts';
import { playing, toolCalled } from '../../helpers/system-story.ts';
import { aDeferRule, toolRules } from '../../helpers/task-fixtures.ts';
import { openSystem, temporaryFolder } from '../../helpers/test-system.ts';

const restAfter = 60_000;

const brokenRules = {
  ...toolRules(),
  get refusal(): never {
    throw new Error('a defect');
  },
};

const policy = aPolicy({
  rulesFor: ({ tool }) => {
    if (tool === 'breaks') return brokenRules;
    return toolRules(tool === 'parks' ? { defer: aDeferRule() } : {});
  },
});

/** A daemon that is about to start, over two tasks at work that are going to break and two that are going to be parked. */
async function openDaemon() {
  const directory = temporaryFolder();
  const held: Record<string, (() => void)[]> = { breaks: [], parks: [] };
  const wait = toolCalled(
    'wait',
    ({ next }) => new Promise((resolve) => held[String(next)]?.push(() => resolve('ok'))),
    { idempotent: true },
  );
  const tools = [wait, toolCalled('breaks'), toolCalled('parks')];
  const options = { directory, tools, policy, restAfter };
  const waiting = () => [held['breaks']?.length, held['parks']?.length];
  const areAtWork = () => vi.waitFor(() => expect(waiting()).toEqual([2, 2]), patient);
  const before = await openSystem(options);
  for (const next of ['breaks', 'parks', 'breaks', 'parks']) {
    await before.system.open(playing([{ tool: 'wait', args: { next } }, { tool: next }]));
  }
  await areAtWork();
  await before.stop();
  for (const calls of Object.values(held)) calls.length = 0;
  const { system, start, clock, logged, lookAround } = await openSystem({
    ...options,
    isStarted: false,
  });
  const load = { live: 4, deferred: 0 };
  /** Every other task is as it was. */
  const isLoad = () =>
    vi.waitFor(async () => expect(await system.metrics.load()).toEqual(load), patient);
  const begin = async () => {
    await start();
    await areAtWork();
    expect(logged.splice(0)).toEqual([]);
  };
  return {
    start: async () => {
      await begin();
      expect(system.intake.isReady()).toBe(true);
    },
    drain: async () => {
      const isEarly = waiting().every((count) => count === 0);
      await system.drain(0);
      if (isEarly) await begin();
      expect(() => system.intake.checkRun()).toThrow('shutting down');
    },
    rest: async () => {
      held['parks']?.shift()?.();
      load.deferred += 1;
      await isLoad();
      clock.advance(restAfter);
      lookAround();
      load.live -= 1;
      await isLoad();
    },
    break: async () => {
      held['breaks']?.shift()?.();
      load.live -= 1;
      await isLoad();
      expect(logged.splice(0)).toMatchObject([{ message: 'task: failed inside the service' }]);
    },
  };
}

const hasStarted = (snapshot: AnyMachineSnapshot) => !snapshot.matches('starting');

const happenings: Happenings<Awaited<ReturnType<typeof openDaemon>>> = {
  'the daemon starts': {
    event: { type: 'registry.accept' },
    in: (snapshot) => snapshot.matches('starting'),
    happen: ({ start }) => start(),
  },
  'it goes down': { event: { type: 'registry.drain' }, happen: ({ drain }) => drain() },
  'a parked task is put to rest': {
    event: { type: 'task.rest', ref: { id: 'parked' } },
    in: hasStarted,
    happen: ({ rest }) => rest(),
  },
  'a task breaks': {
    event: { type: 'xstate.error.actor.task', actorId: 'task', error: new Error('a defect') },
    in: hasStarted,
    happen: (daemon) => daemon.break(),
  },
};

describe('the shortest paths of the registry, with running tasks', () => {
  walkChart(registryMachine, happenings, openDaemon);
});
