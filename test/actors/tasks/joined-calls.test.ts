import { expect, it, vi } from 'vitest';
import { ConflictError } from '../../../src/actors/records/store/task-store.ts';
import type { TaskRequest } from '../../../src/actors/tasks/tasks.ts';
import { patient } from '../../helpers/patient.ts';
import { toolCalled } from '../../helpers/system-story.ts';
import { anAttempt } from '../../helpers/task-fixtures.ts';
import { nine, openSystem, type TestSystem } from '../../helpers/test-system.ts';

const call = { tool: 'pay', args: { order: 'A-1' } };

const request: TaskRequest = {
  message: { role: 'user', parts: [{ kind: 'data', data: call }], messageId: 'm-1' },
  requester: null,
  correlationId: 'c-1',
  surface: 'mcp',
};

/** A system with a call that waits. */
async function waiting(): Promise<TestSystem & { id: string }> {
  const opened = await openSystem({ tools: [toolCalled('pay')], deferred: { pay: {} } });
  const { id, isNew } = await opened.system.openCall(request, call);
  expect(isNew).toBe(true);
  await vi.waitFor(async () => {
    expect((await opened.system.reads.find(id))?.state).toBe('deferred');
  }, patient);
  return { ...opened, id };
}

const requestsOf = async ({ system, id }: { system: TestSystem['system']; id: string }) =>
  (await system.reads.find(id))?.deferral?.requests;

it('an equal call leads to the waiting task, and is counted', async () => {
  const opened = await waiting();
  const { system, id } = opened;
  expect(await system.openCall(request, call)).toEqual({ id, isNew: false });
  await system.joinCall(id);
  expect(await requestsOf(opened)).toBe(2);
  const other = { ...call, args: { order: 'B-7' } };
  expect((await system.openCall(request, other)).isNew).toBe(true);
});

it('every request is counted, also when another daemon counted one first', async () => {
  const opened = await waiting();
  const { system, store, id } = opened;
  const save = vi.spyOn(store, 'save');
  // The first change is refused while the second waits for the next commit.
  const first = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  save.mockImplementationOnce((_, collect) => {
    queueMicrotask(() => {
      collect();
      taken.resolve();
    });
    return first.promise;
  });
  const joined = [system.joinCall(id)];
  await taken.promise;
  joined.push(system.joinCall(id));
  // In one turn of the event loop, before the store commits.
  while (save.mock.calls.length < 2) await Promise.resolve();
  first.reject(new ConflictError());
  await Promise.all(joined);
  expect(await requestsOf(opened)).toBe(3);
});

it('an equal call does not lead to a task that has begun another run', async () => {
  const { system, id } = await waiting();
  const decision = anAttempt({ deferralId: null, approver: 'ann', at: nine });
  expect((await system.decide(id, decision)).kind).toBe('resolved');
  await vi.waitFor(async () => {
    expect((await system.reads.find(id))?.state).toBe('completed');
  }, patient);
  const message: TaskRequest['message'] = { role: 'user', parts: [], messageId: 'm-2' };
  await system.open({ ...request, id, message, surface: 'legacy' });
  const next = await system.openCall(request, call);
  expect([next.isNew, next.id === id]).toEqual([true, false]);
});
