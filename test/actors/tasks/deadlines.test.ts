import { describe, expect, it } from 'vitest';
import { withoutCall } from '../../helpers/call-fields.ts';
import { decision, ends, endsInTime, parks, toolCalled, turn } from '../../helpers/system-story.ts';
import { nine, openSystem, type TestSystem } from '../../helpers/test-system.ts';

const minute = 60_000;

async function systemWithWait(more: Parameters<typeof openSystem>[0] = {}) {
  const pay = toolCalled('pay');
  const rig = await openSystem({ tools: [pay], deferred: { pay: { timeout: '5m' } }, ...more });
  return { ...rig, pay };
}

async function putToRest(rig: TestSystem): Promise<void> {
  rig.clock.advance(3_000);
  rig.lookAround();
  expect((await rig.system.metrics.load()).live).toBe(0);
}

const autoDenied = 'defer: no decision within 5m0s (auto-deny)';

describe('the deadline of a wait', () => {
  it('ends a live task at its exact millisecond', async () => {
    const { system, clock, events, pay } = await systemWithWait();
    const { id } = await parks(system);
    clock.advance(5 * minute - 1);
    expect((await system.reads.find(id))?.state).toBe('deferred');
    clock.advance(1);
    expect((await ends(system, id)).text).toBe(autoDenied);
    expect(await system.reads.find(id)).toMatchObject({
      state: 'failed',
      changedAt: nine + 5 * minute,
    });
    expect(
      events(id)
        .slice(4)
        .map(({ event, fields }) => [event, withoutCall(fields)]),
    ).toEqual([
      ['task_deferred_timeout', { tool: 'pay', timeout_ms: 5 * minute, wait_ms: 5 * minute }],
      ['session_end', { state: 'failed' }],
    ]);
    expect(await system.decide(id, decision('approve', clock.now()))).toEqual({
      kind: 'notPending',
    });
    expect([pay.runs, clock.pending]).toEqual([[], 0]);
  });

  it('ends parked tasks, each at its own time', async () => {
    const rig = await systemWithWait();
    const first = await parks(rig.system);
    rig.clock.advance(minute);
    const second = await parks(rig.system);
    await putToRest(rig);
    rig.clock.advance(first.deferral!.expiresAt - rig.clock.now() - 1);
    expect((await rig.system.metrics.load()).live).toBe(0);
    rig.clock.advance(1);
    expect((await ends(rig.system, first.id)).text).toBe(autoDenied);
    expect((await rig.system.reads.find(second.id))?.state).toBe('deferred');
    rig.clock.advance(minute);
    expect((await ends(rig.system, second.id)).text).toBe(autoDenied);
    expect(
      rig
        .events(second.id)
        .filter(({ event }) => event === 'task_deferred_timeout')
        .map(({ fields }) => withoutCall(fields)),
    ).toEqual([{ tool: 'pay', timeout_ms: 5 * minute, wait_ms: 5 * minute }]);
  });

  it('ends hundreds of parked tasks that are due at once', async () => {
    const rig = await systemWithWait();
    const parked = await Promise.all(Array.from({ length: 350 }, () => parks(rig.system)));
    await putToRest(rig);
    const ended = parked.map(({ id }) => ends(rig.system, id));
    rig.clock.advance(5 * minute);
    for (let turns = 0; turns < 4; turns += 1) {
      await turn();
      rig.clock.advance(0);
    }
    const texts = (await Promise.all(ended)).map(({ text }) => text);
    expect(new Set(texts)).toEqual(new Set([autoDenied]));
    expect(await rig.system.metrics.load()).toEqual({ live: 0, deferred: 0 });
    expect(rig.events().filter(({ event }) => event === 'session_end')).toHaveLength(350);
  });

  it.each([
    ['after it', 0, 'notPending', autoDenied],
    ['just before it', -1, 'resolved', 'defer: rejected by ann'],
  ])('has one winner against a decision %s', async (_name, early, kind, text) => {
    const rig = await systemWithWait();
    const { id, deferral } = await parks(rig.system);
    rig.clock.jump(5 * minute);
    const answer = rig.system.decide(id, decision('reject', deferral!.expiresAt + early));
    rig.clock.advance(0);
    expect((await answer).kind).toBe(kind);
    expect((await ends(rig.system, id)).text).toBe(text);
    const ending = ['task_deferred_timeout', 'task_deferred_decision'];
    expect(rig.events(id).filter(({ event }) => ending.includes(event))).toHaveLength(1);
  });
});

describe('a machine that slept', () => {
  it('ends overdue tasks when it wakes, live and parked', async () => {
    const rig = await systemWithWait();
    const resting = await parks(rig.system);
    await putToRest(rig);
    const live = await parks(rig.system);
    rig.clock.jump(60 * minute);
    expect((await rig.system.reads.find(live.id))?.state).toBe('deferred');
    rig.clock.advance(0);
    for (const { id } of [resting, live]) {
      expect((await ends(rig.system, id)).text).toBe(autoDenied);
    }
  });

  it('does not end a wait because a timer fired early', async () => {
    const rig = await systemWithWait();
    const resting = await parks(rig.system);
    await putToRest(rig);
    const live = await parks(rig.system);
    expect(rig.clock.pending).toBe(1);
    rig.clock.fireEarly();
    await turn();
    expect(
      await Promise.all(
        [resting, live].map(async ({ id }) => (await rig.system.reads.find(id))?.state),
      ),
    ).toEqual(['deferred', 'deferred']);
    rig.clock.advance(5 * minute);
    for (const { id } of [resting, live]) {
      expect((await endsInTime(rig, id)).text).toBe(autoDenied);
    }
  });
});

describe('deadlines that passed while the service was down', () => {
  it('take effect at the start, and later ones at their time', async () => {
    const before = await systemWithWait();
    const early = await parks(before.system);
    before.clock.advance(2 * minute);
    const late = await parks(before.system);
    await before.stop();
    before.clock.advance(4 * minute);
    const { directory, clock } = before;
    const after = await systemWithWait({ directory, clock, onRestart: 'resume' });
    clock.advance(0);
    expect((await ends(after.system, early.id)).text).toBe(autoDenied);
    expect(await after.system.reads.find(late.id)).toEqual(late);
    expect(after.events(early.id).at(-2)).toMatchObject({
      event: 'task_deferred_timeout',
      fields: { tool: 'pay', timeout_ms: 5 * minute, wait_ms: 6 * minute },
    });
    clock.advance(minute);
    expect((await ends(after.system, late.id)).text).toBe(autoDenied);
    expect(after.pay.runs).toEqual([]);
  });
});
