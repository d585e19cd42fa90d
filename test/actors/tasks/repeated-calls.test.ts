import { expect, it, vi } from 'vitest';
import type { TaskRequest } from '../../../src/actors/tasks/task-request.ts';
import { patient } from '../../helpers/patient.ts';
import { decision, ends, parks, playing, reaches, toolCalled } from '../../helpers/system-story.ts';
import { openSystem } from '../../helpers/test-system.ts';

const paying = (...amounts: number[]): TaskRequest => ({
  ...playing([
    ...amounts.map((amount) => ({ tool: 'pay', args: { amount } })),
    { say: 'done: {result}' },
  ]),
  contextId: 'c-1',
});

/** A system with a call that waits in one task, and an equal one that ran in another task since. */
async function besides() {
  const rig = await openSystem({ tools: [toolCalled('pay')], deferred: { pay: {} } });
  const { system, clock } = rig;
  const approve = (id: string) => system.decide(id, decision('approve', clock.now()));
  const first = await parks(system, paying(1, 5));
  const beside = await parks(system, paying(5));
  await approve(beside.id);
  const { ran = [] } = await ends(system, beside.id);
  const ranBeside = ran.map(({ callId, at, approver }) => ({
    callId,
    at,
    approver,
    requester: null,
  }));
  return { ...rig, approve, first, beside, ranBeside };
}

it('a repeated call of a concurrent task of the session is reported', async () => {
  const { system, approve, first, ranBeside } = await besides();
  const held = first.deferral?.id;
  await approve(first.id);
  const next = await reaches(system, first.id, 'deferred');
  expect(next.deferral?.id).not.toBe(held);
  expect([next.deferral?.repeats]).toEqual(ranBeside);
});

it('a repeated call of the session is reported when a task runs again', async () => {
  const { system, clock, first, ranBeside } = await besides();
  await system.decide(first.id, decision('reject', clock.now()));
  await ends(system, first.id);
  await system.open({ ...paying(5), id: first.id });
  const again = await vi.waitUntil(async () => {
    const task = await system.reads.find(first.id);
    return task?.state === 'deferred' && task;
  }, patient);
  expect([again.deferral?.repeats]).toEqual(ranBeside);
});

it('a repeated call of another session and another caller is reported', async () => {
  const rig = await openSystem({ tools: [toolCalled('pay')], deferred: { pay: {} } });
  const { system, clock } = rig;
  const first = await parks(system, { ...paying(5), contextId: 'c-1' });
  await system.decide(first.id, decision('approve', clock.now()));
  const [ran] = (await ends(system, first.id)).ran ?? [];
  const { deferral } = await parks(system, { ...paying(5), contextId: 'c-2' });
  const { callId, at, approver } = ran ?? {};
  expect(deferral?.repeats).toEqual({ callId, at, approver, requester: null });
  const other = await parks(system, { ...paying(6), contextId: 'c-3' });
  expect(other.deferral).not.toHaveProperty('repeats');
});
