import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { SqliteTaskRows } from '../../../src/actors/records/sqlite/sqlite-task-rows.ts';
import { SystemError } from '../../../src/actors/system-error.ts';
import { patient } from '../../helpers/patient.ts';
import {
  decision,
  ends,
  gate,
  parks,
  payment,
  playing,
  reaches,
  toolCalled,
  turn,
} from '../../helpers/system-story.ts';
import { openSystem } from '../../helpers/test-system.ts';

const day = 24 * 3_600_000;
const shuttingDown = new SystemError('shutting_down', 'service is shutting down');

describe('starting', () => {
  const starting = new SystemError('starting', 'service is starting; try again in a moment');

  it('accepts no work and no decision until interrupted tasks are handled', async () => {
    const before = await openSystem({ tools: [toolCalled('pay')], deferred: { pay: {} } });
    const { id } = await parks(before.system);
    await before.stop();
    const { directory } = before;
    const { system } = await openSystem({ directory, isStarted: false, onRestart: 'abandon' });
    expect(system.intake.isReady()).toBe(false);
    await expect(system.open(payment)).rejects.toThrow(starting);
    await expect(system.decide(id, decision('approve', 0))).rejects.toEqual(starting);
    await expect(system.cancel(id, 'external_signal')).rejects.toEqual(starting);
    expect((await system.reads.find(id))?.state).toBe('deferred');
    await system.start();
    expect(system.intake.isReady()).toBe(true);
    expect((await system.reads.find(id))?.text).toBe('defer: abandoned by service restart');
  });
});

describe('draining', () => {
  it('accepts nothing new, disconnects waiting callers, and lets running work finish', async () => {
    const door = gate();
    const { system } = await openSystem({
      tools: [toolCalled('pay'), toolCalled('slow', () => door.opened.then(() => 'slowly'))],
      deferred: { pay: {} },
    });
    const parked = await parks(system);
    const heldWait = ends(system, parked.id);
    const atWork = await system.open(playing([{ tool: 'slow' }, { say: '{result}' }]));
    await reaches(system, atWork, 'working');
    const working = ends(system, atWork);
    const drained = system.drain(60_000);
    await expect(heldWait).rejects.toEqual(shuttingDown);
    expect(system.intake.isReady()).toBe(false);
    await expect(system.open(payment)).rejects.toThrow(shuttingDown);
    door.open();
    expect((await working).text).toBe('slowly');
    await drained;
    expect((await system.reads.find(parked.id))?.state).toBe('deferred');
  });

  it('waits for work that a decision starts, and accepts no decision after it', async () => {
    const door = gate();
    const till = gate();
    const { system } = await openSystem({
      tools: [
        toolCalled('pay', () => till.opened.then(() => 'paid')),
        toolCalled('slow', () => door.opened.then(() => 'slowly')),
      ],
      deferred: { pay: {} },
    });
    const [released, late, unmoved] = [
      await parks(system),
      await parks(system),
      await parks(system),
    ];
    const atWork = await system.open(playing([{ tool: 'slow' }]));
    await reaches(system, atWork, 'working');
    const drained = system.drain(60_000);
    await system.decide(released.id, decision('approve', 0));
    door.open();
    await vi.waitUntil(
      async () => (await system.reads.find(atWork))?.state === 'completed',
      patient,
    );
    const deciding = system.decide(late.id, decision('approve', 0));
    till.open();
    await drained;
    await deciding;
    const states = await Promise.all(
      [released, late, unmoved].map(async ({ id }) => (await system.reads.find(id))?.state),
    );
    expect(states).toEqual(['completed', 'completed', 'deferred']);
    const tooLate = system.decide(unmoved.id, decision('approve', 0));
    await expect(tooLate).rejects.toEqual(shuttingDown);
    expect((await system.reads.find(unmoved.id))?.state).toBe('deferred');
  });

  it('aborts work that does not finish in time', async () => {
    const started = gate();
    const slow = toolCalled('slow', () => {
      started.open();
      return new Promise(() => undefined);
    });
    const { system } = await openSystem({ tools: [slow] });
    const id = await system.open(playing([{ tool: 'slow' }]));
    await started.opened;
    const held = ends(system, id);
    const refused = expect(held).rejects.toEqual(shuttingDown);
    await system.drain(1);
    await refused;
    expect((await system.reads.find(id))?.state).toBe('working');
  });
});

describe('stopping', () => {
  it('keeps stored data, starts nothing, and aborts running work', async () => {
    const aborted = gate();
    const slow = toolCalled('slow', (_args, { signal }) => {
      signal.addEventListener('abort', aborted.open);
      return new Promise(() => undefined);
    });
    const rig = await openSystem({ tools: [slow] });
    const running = await rig.system.open(playing([{ tool: 'slow' }]));
    await turn();
    await turn();
    const fresh = await rig.system.open(playing([{ tool: 'slow' }]));
    await rig.stop();
    await aborted.opened;
    await turn();
    expect(slow.runs.map(({ taskId }) => taskId)).toEqual([running]);
    const { directory, clock } = rig;
    const after = await openSystem({ directory, clock, tools: [slow], onRestart: 'abandon' });
    expect(
      await Promise.all(
        [running, fresh].map(async (id) => (await after.system.reads.find(id))?.text),
      ),
    ).toEqual(['interrupted by service restart', 'interrupted by service restart']);
  });
});

describe('stopping at any moment', () => {
  it.each([
    ['at once', () => Promise.resolve()],
    ['later', turn],
  ])('leaves a run that can be resumed, with a store that commits %s', async (_, wait) => {
    for (let turns = 0; turns < 5; turns += 1) {
      for (let ticks = 0; ticks < 10; ticks += 1) {
        const tools = [toolCalled('pay', undefined, { idempotent: true })];
        const rig = await openSystem({ tools });
        const id = await rig.system.open(payment);
        for (let taken = 0; taken < turns; taken += 1) await turn();
        for (let taken = 0; taken < ticks; taken += 1) await Promise.resolve();
        const flush = rig.store.flush.bind(rig.store);
        rig.store.flush = async () => {
          await wait();
          return flush();
        };
        await rig.stop();
        const { directory, clock } = rig;
        const after = await openSystem({ directory, clock, tools });
        const { text } = await ends(after.system, id);
        expect([turns, ticks, text]).toEqual([turns, ticks, 'done: pay ok']);
        await after.stop();
      }
    }
  });
});

describe('retention', () => {
  it('deletes tasks that ended long enough ago, and no unfinished task', async () => {
    const { system, clock } = await openSystem({
      tools: [toolCalled('pay')],
      deferred: { pay: { timeout: '480h' } },
      retention: 7 * day,
    });
    const parked = await parks(system);
    const old = await system.open(playing([{ say: 'old' }]));
    await ends(system, old);
    clock.advance(3 * day);
    const recent = await system.open(playing([{ say: 'recent' }]));
    await ends(system, recent);
    clock.advance(4 * day);
    await system.retention.deleteExpired();
    expect((await system.reads.find(old))?.text).toBe('old');
    clock.advance(1);
    await system.retention.deleteExpired();
    expect(
      await Promise.all(
        [old, recent, parked.id].map(async (id) => (await system.reads.find(id))?.state),
      ),
    ).toEqual([undefined, 'completed', 'deferred']);
  });

  it('stops with the system, also in the middle of deleting', async () => {
    const { system, clock, stop, logged } = await openSystem();
    await ends(system, await system.open(playing([{ say: 'old' }])));
    clock.advance(8 * day);
    const deleting = vi.spyOn(SqliteTaskRows.prototype, 'deleteEnded');
    onTestFinished(() => deleting.mockRestore());
    await system.retention.deleteExpired();
    await stop();
    await turn();
    await turn();
    // It would continue after it has deleted one, and finds that there is no store any more.
    expect(deleting).toHaveBeenCalledOnce();
    expect(logged).toEqual([]);
  });

  it('is delayed while the store cannot be written', async () => {
    const { system, clock, logged } = await openSystem();
    const id = await system.open(playing([{ say: 'old' }]));
    await ends(system, id);
    clock.advance(8 * day);
    const spy = vi.spyOn(SqliteTaskRows.prototype, 'deleteEnded').mockImplementation(() => {
      throw new Error('database is locked');
    });
    onTestFinished(() => spy.mockRestore());
    await system.retention.deleteExpired();
    expect(logged).toMatchObject([{ level: 'error', message: 'tasks: expired ones stay for now' }]);
    spy.mockRestore();
    await system.retention.deleteExpired();
    expect(await system.reads.find(id)).toBeUndefined();
  });
});

describe('a stopped system', () => {
  const hop = { domain: 'api.example', mode: 'allowlist', reason: null } as const;

  it('stops every hop of a task, as it can no longer be recorded', async () => {
    const { system, stop } = await openSystem();
    const scope = { taskId: 't1', correlationId: 'c1', tags: {} };
    await stop();
    expect(() => system.egress.record({ ...hop, scope })).toThrow(shuttingDown);
  });

  it('lets the daemon send its last data', async () => {
    const { system, events, stop } = await openSystem();
    await stop();
    const before = events();
    system.egress.record({ ...hop, scope: null });
    expect(events()).toEqual(before);
  });
});
