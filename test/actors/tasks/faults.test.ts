import { describe, expect, it } from 'vitest';
import { UnrecordedError } from '../../../src/actors/records/store/task-store.ts';
import { aPolicy } from '../../helpers/a-policy.ts';
import { failingDisk } from '../../helpers/failing-disk.ts';
import {
  briefly,
  decision,
  ends,
  gate,
  parks,
  payment,
  playing,
  toolCalled,
  turn,
} from '../../helpers/system-story.ts';
import { toolRules } from '../../helpers/task-fixtures.ts';
import { openSystem } from '../../helpers/test-system.ts';

const unrecorded = expect.objectContaining({ code: 'unrecorded' });

describe('a disk that accepts no writes', () => {
  it('refuses decisions, which then do not count, and new work, until there is space', async () => {
    const pay = toolCalled('pay');
    const { system, clock, events, verify } = await openSystem({
      tools: [pay],
      deferred: { pay: {} },
    });
    const parked = await parks(system);
    const disk = failingDisk();
    for (const verb of ['approve', 'reject'] as const) {
      await expect(system.decide(parked.id, decision(verb, clock.now()))).rejects.toEqual(
        unrecorded,
      );
    }
    await expect(system.cancel(parked.id, 'timeout')).rejects.toEqual(unrecorded);
    expect(await system.reads.find(parked.id)).toEqual(parked);
    expect(system.intake.isReady()).toBe(false);
    await expect(system.open(payment)).rejects.toThrow(
      expect.objectContaining({
        code: 'unrecorded',
        message:
          'the service cannot record events at the moment, so it accepts no work; free disk space and try again',
      }),
    );
    expect([pay.runs, events().length]).toEqual([[], 4]);
    disk.fix();
    expect(system.intake.isReady()).toBe(true);
    const answer = await system.decide(parked.id, decision('approve', clock.now()));
    expect(answer.kind).toBe('resolved');
    expect((await ends(system, parked.id)).text).toBe('done: pay ok');
    expect(events().map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(await verify()).toMatchObject({ ok: true, events: 9 });
  });

  it('lets no tool start whose start could not be recorded, and informs its caller', async () => {
    const pay = toolCalled('pay');
    const { system, logged } = await openSystem({ tools: [pay] });
    const disk = failingDisk();
    const id = await system.open(payment);
    await expect(ends(system, id)).rejects.toThrow(
      'the task could not be recorded; try again later',
    );
    expect([pay.runs, await system.reads.find(id), (await system.metrics.load()).live]).toEqual([
      [],
      undefined,
      0,
    ]);
    expect(logged.map(({ message }) => message)).toEqual(['task: a change could not be saved']);
    disk.fix();
  });

  it('keeps no change of a task after a lost one', async () => {
    const lost = gate();
    const { system, store, events } = await openSystem({ tools: [toolCalled('pay')] });
    const save = store.save.bind(store);
    store.save = async (_, collect) => {
      store.save = save;
      await Promise.resolve();
      collect();
      await lost.opened;
      throw new UnrecordedError('the task store cannot be written');
    };
    const id = await system.open(payment);
    const ended = ends(system, id);
    system.egress.record({
      scope: { taskId: id, correlationId: 'c-1', tags: {} },
      domain: 'api.example.com',
      mode: 'allowlist',
      reason: null,
    });
    lost.open();
    await expect(ended).rejects.toEqual(unrecorded);
    await turn();
    expect(await system.reads.find(id)).toBeUndefined();
    expect(events(id)).toEqual([]);
  });

  it('never runs a tool again whose end could not be recorded', async () => {
    const door = gate();
    const started = gate();
    const pay = toolCalled('pay', () => {
      started.open();
      return door.opened.then(() => 'paid');
    });
    const rig = await openSystem({ tools: [pay] });
    const id = await rig.system.open(payment);
    await started.opened;
    const disk = failingDisk();
    const ended = ends(rig.system, id);
    door.open();
    await expect(ended).rejects.toEqual(unrecorded);
    expect((await rig.system.reads.find(id))?.state).toBe('working');
    rig.lookAround();
    expect((await rig.system.metrics.load()).live).toBe(0);
    disk.fix();
    rig.lookAround();
    expect((await ends(rig.system, id)).text).toBe(
      'interrupted by service restart: pay had started and its outcome is unknown',
    );
    expect(pay.runs).toHaveLength(1);
    expect(briefly(rig.events(id)).slice(2)).toEqual([
      'tool_exec start',
      'tool_exec end',
      'session_end failed',
    ]);
  });

  it('resumes every interrupted task as soon as there is space', async () => {
    const rig = await openSystem({
      tools: [toolCalled('pay')],
      deferred: { pay: { timeout: '5m' } },
    });
    const parked = await parks(rig.system);
    const disk = failingDisk();
    rig.clock.advance(300_000);
    for (let turns = 0; turns < 10; turns += 1) {
      await turn();
      rig.clock.advance(0);
      rig.lookAround();
    }
    expect(await rig.system.reads.find(parked.id)).toEqual(parked);
    expect(rig.logged).toHaveLength(1);
    disk.fix();
    rig.lookAround();
    rig.clock.advance(0);
    expect((await ends(rig.system, parked.id)).text).toBe(
      'defer: no decision within 5m0s (auto-deny)',
    );
  });
});

describe('a defect in one task', () => {
  const brokenAnswer = {
    ...toolRules(),
    get refusal(): never {
      throw new Error('a defect');
    },
  };
  const brokenRules = aPolicy({
    rulesFor: ({ tool }) => (tool === 'broken' ? brokenAnswer : toolRules()),
  });

  it('ends that task with its own log line, and affects no other', async () => {
    const door = gate();
    const rig = await openSystem({
      tools: [toolCalled('slow', () => door.opened.then(() => 'ok')), toolCalled('broken')],
      policy: brokenRules,
    });
    const other = await rig.system.open(playing([{ tool: 'slow' }, { say: 'fine' }]));
    const broken = await rig.system.open(playing([{ tool: 'broken' }]));
    expect(await ends(rig.system, broken)).toMatchObject({
      state: 'failed',
      text: 'the task failed inside the service; its log says why',
      failure: { kind: 'internal' },
      answer: null,
    });
    expect(briefly(rig.events(broken))).toEqual([
      'session_start',
      'llm_call',
      'session_end failed',
    ]);
    expect(rig.logged).toMatchObject([
      { level: 'error', message: 'task: failed inside the service', fields: { task_id: broken } },
    ]);
    door.open();
    expect((await ends(rig.system, other)).text).toBe('fine');
    expect((await ends(rig.system, await rig.system.open(playing([{ say: 'new' }])))).text).toBe(
      'new',
    );
    expect(await rig.system.cancel(broken, 'timeout')).toMatchObject({ state: 'failed' });
  });

  it('allows nothing when the policy throws', async () => {
    const pay = toolCalled('pay');
    const { system } = await openSystem({
      tools: [pay],
      policy: aPolicy({
        rulesFor: () => {
          throw new Error('the rules are gone');
        },
      }),
    });
    const ended = await ends(system, await system.open(payment));
    expect(ended.text).toBe('governance failed: the policy could not be consulted');
    expect(pay.runs).toEqual([]);
  });
});
