import { expect, it } from 'vitest';
import { withoutCall } from '../../helpers/call-fields.ts';
import { decision, ends, parks, toolCalled, turn } from '../../helpers/system-story.ts';
import { nine, openSystem, type TestSystem } from '../../helpers/test-system.ts';

const minute = 60_000;
const nudged = {
  to: 'channel:console:desk',
  timeout: '4m',
  remind: true,
  escalate_to: 'channel:console:managers',
};

function openNudging(more: Parameters<typeof openSystem>[0] = {}) {
  return openSystem({ tools: [toolCalled('pay')], deferred: { pay: nudged }, ...more });
}

/** Moves the clock, and lets what became due be committed. */
async function advance({ clock, system }: TestSystem, id: string, milliseconds: number) {
  const { revision } = (await system.reads.find(id))!;
  const changed = new Promise<void>((resolve) => {
    const leave = system.watchers.subscribe(id, {
      onTask: (task) => {
        if (task.revision <= revision) return;
        leave();
        resolve();
      },
      onLost: () => resolve(),
    });
  });
  clock.advance(milliseconds);
  await changed;
}

async function putToRest(rig: TestSystem): Promise<void> {
  rig.clock.advance(3_000);
  rig.lookAround();
  expect((await rig.system.metrics.load()).live).toBe(0);
}

const nudges = [
  ['task_deferred_reminder', { tool: 'pay', to: 'channel:console:desk', wait_ms: 2 * minute }],
  ['task_deferred_escalated', { tool: 'pay', to: 'channel:console:managers', wait_ms: 3 * minute }],
  ['task_deferred_timeout', { tool: 'pay', timeout_ms: 4 * minute, wait_ms: 4 * minute }],
  ['session_end', { state: 'failed' }],
];

function nudgesOf(rig: TestSystem, id: string) {
  return rig
    .events(id)
    .slice(4)
    .map(({ event, fields }) => [event, withoutCall(fields)]);
}

it('a followed task reminds and escalates', async () => {
  const rig = await openNudging();
  const { id } = await parks(rig.system);
  await advance(rig, id, 2 * minute);
  expect(await rig.system.reads.find(id)).toMatchObject({
    stage: 'reminded',
    wakeAt: nine + 3 * minute,
  });
  await advance(rig, id, minute);
  expect(await rig.system.reads.find(id)).toMatchObject({
    stage: 'escalated',
    wakeAt: nine + 4 * minute,
  });
  rig.clock.advance(minute);
  await ends(rig.system, id);
  expect(nudgesOf(rig, id)).toEqual(nudges);
});

it('a parked task is woken for each of its moments, and parked again', async () => {
  const rig = await openNudging();
  const { id } = await parks(rig.system);
  for (const at of [2 * minute, 3 * minute]) {
    await putToRest(rig);
    await advance(rig, id, nine + at - rig.clock.now());
  }
  await putToRest(rig);
  rig.clock.advance(nine + 4 * minute - rig.clock.now());
  expect((await ends(rig.system, id)).text).toBe('defer: no decision within 4m0s (auto-deny)');
  expect(nudgesOf(rig, id)).toEqual(nudges);
  expect(await rig.verify()).toMatchObject({ ok: true });
});

it('a decision is accepted after both moments', async () => {
  const rig = await openNudging();
  const { id } = await parks(rig.system);
  await advance(rig, id, 3 * minute);
  expect(await rig.system.decide(id, decision('approve', rig.clock.now()))).toMatchObject({
    kind: 'resolved',
  });
  expect((await ends(rig.system, id)).text).toBe('done: pay ok');
  expect(await rig.system.reads.find(id)).toMatchObject({ stage: null, wakeAt: null });
});

it('a restart after the reminder escalates at once', async () => {
  const before = await openNudging();
  const { id } = await parks(before.system);
  await before.stop();
  before.clock.advance(3 * minute + 1);
  const rig = await openNudging({ directory: before.directory, clock: before.clock });
  rig.clock.advance(0);
  await turn();
  expect(await rig.system.reads.find(id)).toMatchObject({ state: 'deferred', stage: 'escalated' });
  expect(nudgesOf(rig, id).map(([event]) => event)).toEqual(['task_deferred_escalated']);
});
