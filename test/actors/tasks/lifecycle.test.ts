import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { TaskRows } from '../../../src/actors/records/store/task-rows.ts';
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

  it('takes in no work and no decision until what a restart interrupted is dealt with', async () => {
    const before = await openSystem({ tools: [toolCalled('pay')], deferred: { pay: {} } });
    const { id } = await parks(before.system);
    before.stop();
    const { directory } = before;
    const { system } = await openSystem({ directory, isStarted: false, onRestart: 'abandon' });
    expect(system.intake.isReady()).toBe(false);
    expect(() => system.open(payment)).toThrow(starting);
    await expect(system.decide(id, decision('approve', 0))).rejects.toEqual(starting);
    await expect(system.cancel(id, 'external_signal')).rejects.toEqual(starting);
    expect(system.reads.find(id)?.state).toBe('deferred');
    await system.start();
    expect(system.intake.isReady()).toBe(true);
    expect(system.reads.find(id)?.text).toBe('defer: abandoned by service restart');
  });
});

describe('draining', () => {
  it('takes in nothing new, lets go of who waits for a decision, and lets work end', async () => {
    const door = gate();
    const { system } = await openSystem({
      tools: [toolCalled('pay'), toolCalled('slow', () => door.opened.then(() => 'slowly'))],
      deferred: { pay: {} },
    });
    const parked = await parks(system);
    const heldWait = ends(system, parked.id);
    const atWork = system.open(playing([{ tool: 'slow' }, { say: '{result}' }]));
    await reaches(system, atWork, 'working');
    const working = ends(system, atWork);
    const drained = system.drain(60_000);
    await expect(heldWait).rejects.toEqual(shuttingDown);
    expect(system.intake.isReady()).toBe(false);
    expect(() => system.open(payment)).toThrow(shuttingDown);
    door.open();
    expect((await working).text).toBe('slowly');
    await drained;
    expect(system.reads.find(parked.id)?.state).toBe('deferred');
  });

  it('waits for what a decision puts to work meanwhile, and takes none once it is over', async () => {
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
    const atWork = system.open(playing([{ tool: 'slow' }]));
    await reaches(system, atWork, 'working');
    const drained = system.drain(60_000);
    await system.decide(released.id, decision('approve', 0));
    door.open();
    await vi.waitUntil(() => system.reads.find(atWork)?.state === 'completed', patient);
    const deciding = system.decide(late.id, decision('approve', 0));
    till.open();
    await drained;
    await deciding;
    const states = [released, late, unmoved].map(({ id }) => system.reads.find(id)?.state);
    expect(states).toEqual(['completed', 'completed', 'deferred']);
    const tooLate = system.decide(unmoved.id, decision('approve', 0));
    await expect(tooLate).rejects.toEqual(shuttingDown);
    expect(system.reads.find(unmoved.id)?.state).toBe('deferred');
  });

  it('lets go of work that does not end in time', async () => {
    const started = gate();
    const slow = toolCalled('slow', () => {
      started.open();
      return new Promise(() => undefined);
    });
    const { system } = await openSystem({ tools: [slow] });
    const id = system.open(playing([{ tool: 'slow' }]));
    await started.opened;
    const held = ends(system, id);
    const refused = expect(held).rejects.toEqual(shuttingDown);
    await system.drain(1);
    await refused;
    expect(system.reads.find(id)?.state).toBe('working');
  });
});

describe('stopping', () => {
  it('keeps what was told, starts nothing, and aborts what runs', async () => {
    const aborted = gate();
    const slow = toolCalled('slow', (_args, { signal }) => {
      signal.addEventListener('abort', aborted.open);
      return new Promise(() => undefined);
    });
    const rig = await openSystem({ tools: [slow] });
    const running = rig.system.open(playing([{ tool: 'slow' }]));
    await turn();
    await turn();
    const fresh = rig.system.open(playing([{ tool: 'slow' }]));
    rig.stop();
    await aborted.opened;
    await turn();
    expect(slow.runs.map(({ taskId }) => taskId)).toEqual([running]);
    const { directory, clock } = rig;
    const after = await openSystem({ directory, clock, tools: [slow], onRestart: 'abandon' });
    expect([running, fresh].map((id) => after.system.reads.find(id)?.text)).toEqual([
      'interrupted by service restart',
      'interrupted by service restart',
    ]);
  });
});

describe('retention', () => {
  it('deletes tasks that ended longer ago, and no task that has not ended', async () => {
    const { system, clock } = await openSystem({
      tools: [toolCalled('pay')],
      deferred: { pay: { timeout: '480h' } },
      retention: 7 * day,
    });
    const parked = await parks(system);
    const old = system.open(playing([{ say: 'old' }]));
    await ends(system, old);
    clock.advance(3 * day);
    const recent = system.open(playing([{ say: 'recent' }]));
    await ends(system, recent);
    clock.advance(4 * day);
    system.retention.deleteExpired();
    expect(system.reads.find(old)?.text).toBe('old');
    clock.advance(1);
    system.retention.deleteExpired();
    expect([old, recent, parked.id].map((id) => system.reads.find(id)?.state)).toEqual([
      undefined,
      'completed',
      'deferred',
    ]);
  });

  it('ends with the system, in the middle of deleting', async () => {
    const { system, clock, stop, logged } = await openSystem();
    await ends(system, system.open(playing([{ say: 'old' }])));
    clock.advance(8 * day);
    const deleting = vi.spyOn(TaskRows.prototype, 'deleteEnded');
    onTestFinished(() => deleting.mockRestore());
    system.retention.deleteExpired();
    stop();
    await turn();
    await turn();
    // It would go on once it has deleted one, and finds that there is no store any more.
    expect(deleting).toHaveBeenCalledOnce();
    expect(logged).toEqual([]);
  });

  it('is put off when the store cannot be written', async () => {
    const { system, clock, logged } = await openSystem();
    const id = system.open(playing([{ say: 'old' }]));
    await ends(system, id);
    clock.advance(8 * day);
    const spy = vi.spyOn(TaskRows.prototype, 'deleteEnded').mockImplementation(() => {
      throw new Error('database is locked');
    });
    onTestFinished(() => spy.mockRestore());
    system.retention.deleteExpired();
    expect(logged).toMatchObject([{ level: 'error', message: 'tasks: expired ones stay for now' }]);
    spy.mockRestore();
    system.retention.deleteExpired();
    expect(system.reads.find(id)).toBeUndefined();
  });
});

describe('a system that has stopped', () => {
  const hop = { domain: 'api.example', mode: 'allowlist', reason: null } as const;

  it('stops every hop of a task, as it can be recorded no more', async () => {
    const { system, stop } = await openSystem();
    const scope = { taskId: 't1', correlationId: 'c1', tags: {} };
    stop();
    expect(() => system.egress.record({ ...hop, scope })).toThrow(shuttingDown);
  });

  it('lets the daemon send what is left', async () => {
    const { system, events, stop } = await openSystem();
    stop();
    const before = events();
    system.egress.record({ ...hop, scope: null });
    expect(events()).toEqual(before);
  });
});
