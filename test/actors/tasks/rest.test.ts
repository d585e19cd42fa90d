import { describe, expect, it } from 'vitest';
import { decision, ends, parks, reaches, saves, toolCalled } from '../../helpers/system-story.ts';
import { openSystem, type TestSystem } from '../../helpers/test-system.ts';

const minute = 60_000;

/** A system in which tasks rest after a minute; `lookAround` is what its interval does. */
async function systemAtRest() {
  const pay = toolCalled('pay');
  const started: string[] = [];
  const rig = await openSystem({
    tools: [pay],
    deferred: { pay: { timeout: '2h' } },
    restAfter: minute,
    onActorStart: (id) => started.push(id),
  });
  return { ...rig, pay, started };
}

const quietWatcher = { onTask: () => undefined, onLost: () => undefined };

/** Lets a time pass and has the system look for what may rest. */
function restAfter({ clock, lookAround }: TestSystem, milliseconds: number): void {
  clock.advance(milliseconds);
  lookAround();
}

describe('a parked task', () => {
  it('leaves memory, without a visible difference', async () => {
    const rig = await systemAtRest();
    const parked = await parks(rig.system);
    const before = rig.events();
    restAfter(rig, minute - 1);
    expect(await rig.system.metrics.load()).toEqual({ live: 1, deferred: 1 });
    restAfter(rig, 1);
    expect(await rig.system.metrics.load()).toEqual({ live: 0, deferred: 1 });
    await rig.store.flush();
    expect(rig.events()).toEqual(before);
    expect(await rig.system.reads.find(parked.id)).toEqual(parked);
    expect(await rig.system.reads.findByDeferral(parked.deferral?.id ?? '')).toEqual(parked);
    expect(rig.pay.runs).toEqual([]);
  });

  it('is restored by the next event, as one actor for concurrent ones', async () => {
    const rig = await systemAtRest();
    const { id } = await parks(rig.system);
    restAfter(rig, minute);
    rig.started.length = 0;
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => rig.system.decide(id, decision('approve', rig.clock.now()))),
    );
    expect(rig.started).toEqual([id]);
    expect(answers.filter(({ kind }) => kind === 'resolved')).toHaveLength(1);
    expect((await ends(rig.system, id)).text).toBe('done: pay ok');
    expect(rig.pay.runs).toHaveLength(1);
    expect(rig.events(id).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('is parked again after an event that left it waiting', async () => {
    const rig = await systemAtRest();
    const { id } = await parks(rig.system);
    restAfter(rig, minute);
    const pinned = decision('approve', rig.clock.now(), { deferralId: 'another' });
    expect((await rig.system.decide(id, pinned)).kind).toBe('otherDeferral');
    expect((await rig.system.metrics.load()).live).toBe(1);
    restAfter(rig, minute);
    expect((await rig.system.metrics.load()).live).toBe(0);
  });

  it('can be canceled, and its caller can disconnect', async () => {
    const rig = await systemAtRest();
    const first = await parks(rig.system);
    const second = await parks(rig.system);
    restAfter(rig, minute);
    expect((await rig.system.cancel(first.id, 'timeout'))?.text).toBe('canceled: timeout');
    await rig.system.callerLeft(second.id);
    expect((await rig.system.reads.find(second.id))?.text).toBe(
      'defer: abandoned, caller disconnected',
    );
    expect(rig.events(second.id).at(-2)).toMatchObject({
      event: 'task_deferred_abandoned',
      fields: { tool: 'pay', reason: 'caller_disconnected', wait_ms: minute },
    });
  });

  it('can be awaited like any other', async () => {
    const rig = await systemAtRest();
    const { id } = await parks(rig.system);
    restAfter(rig, minute);
    const ended = ends(rig.system, id);
    await rig.system.decide(id, decision('reject', rig.clock.now(), { note: 'no' }));
    expect((await ended).text).toBe('defer: rejected by ann: no');
  });
});

describe('a parked task with followers', () => {
  it('is parked like any other, and its waiting callers are answered', async () => {
    const rig = await systemAtRest();
    const { id } = await parks(rig.system);
    const ended = ends(rig.system, id);
    const seen: string[] = [];
    rig.system.watchers.subscribe(id, { ...quietWatcher, onTask: ({ state }) => seen.push(state) });
    restAfter(rig, minute - 1);
    expect((await rig.system.metrics.load()).live).toBe(1);
    restAfter(rig, 1);
    expect([(await rig.system.metrics.load()).live, seen]).toEqual([0, []]);
    await rig.system.decide(id, decision('approve', rig.clock.now()));
    expect((await ended).text).toBe('done: pay ok');
    expect(seen).toEqual(['working', 'working', 'completed']);
  });

  it('stays parked when a follower connects, and sends it the events', async () => {
    const rig = await systemAtRest();
    const { id } = await parks(rig.system);
    restAfter(rig, minute);
    const seen: string[] = [];
    rig.system.watchers.subscribe(id, { ...quietWatcher, onTask: ({ state }) => seen.push(state) });
    expect((await rig.system.metrics.load()).live).toBe(0);
    await rig.system.decide(id, decision('approve', rig.clock.now()));
    await reaches(rig.system, id, 'completed');
    expect(seen).toEqual(['working', 'working', 'completed']);
  });
});

describe('a task that is being parked', () => {
  it('is restored for a request at that moment', async () => {
    const rig = await systemAtRest();
    const { id } = await parks(rig.system);
    rig.clock.advance(minute);
    const canceled = rig.system.cancel(id, 'timeout');
    rig.lookAround();
    expect((await canceled)?.state).toBe('canceled');
  });
});

describe('a task with unsaved changes', () => {
  it('is not parked before they are stored', async () => {
    const rig = await systemAtRest();
    const { id } = await parks(rig.system);
    rig.clock.advance(minute);
    const saving = saves(rig);
    const canceled = rig.system.cancel(id, 'timeout');
    await saving;
    rig.lookAround();
    expect((await rig.system.metrics.load()).live).toBe(1);
    expect((await canceled)?.state).toBe('canceled');
    expect(rig.events(id).at(-1)).toMatchObject({ event: 'session_end' });
  });

  it('does not delay others, even when tasks are parked at once', async () => {
    const rig = await openSystem({
      tools: [toolCalled('pay')],
      deferred: { pay: { quorum: 2 } },
      restAfter: 0,
    });
    const [first, second] = await Promise.all([parks(rig.system), parks(rig.system)]);
    const saving = saves(rig);
    const recorded = rig.system.decide(first.id, decision('approve', rig.clock.now()));
    await saving;
    rig.lookAround();
    expect(await rig.system.metrics.load()).toEqual({ live: 1, deferred: 2 });
    expect((await recorded).kind).toBe('recorded');
    rig.lookAround();
    expect(await rig.system.metrics.load()).toEqual({ live: 0, deferred: 2 });
    expect((await rig.system.reads.find(second.id))?.state).toBe('deferred');
  });
});

it('a thousand parked tasks need one timer and no actor', async () => {
  const rig = await systemAtRest();
  const parked = await Promise.all(Array.from({ length: 1_000 }, () => parks(rig.system)));
  restAfter(rig, minute);
  expect([await rig.system.metrics.load(), rig.clock.pending]).toEqual([
    { live: 0, deferred: 1_000 },
    1,
  ]);
  expect(await rig.system.reads.find(parked[765]?.id ?? '')).toEqual(parked[765]);
});
