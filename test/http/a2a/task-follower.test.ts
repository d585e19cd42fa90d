import { expect, it, vi } from 'vitest';
import { TaskFollower } from '../../../src/http/a2a/task-follower.ts';
import { CallerTasks } from '../../../src/http/caller-tasks.ts';
import { decision, ends, parks, payment, playing, toolCalled } from '../../helpers/system-story.ts';
import { openSystem, type TestSystem } from '../../helpers/test-system.ts';

/** Has the store answer only once the task has ended, as one may that is asked over a network. */
function answersAtTheEnd({ system }: TestSystem, id: () => string): void {
  const find = system.reads.find.bind(system.reads);
  vi.spyOn(system.reads, 'find').mockImplementation(async (asked) => {
    await ends(system, id());
    return find(asked);
  });
}

async function statesOf(follower: TaskFollower, id: string): Promise<string[]> {
  const states: string[] = [];
  for await (const { task } of follower.follow(id, new AbortController().signal)) {
    if (task !== undefined && task.state !== states.at(-1)) states.push(task.state);
  }
  return states;
}

it('each step of a new task that ends before the store answers is sent', async () => {
  const test = await openSystem();
  const tasks = new CallerTasks({ system: test.system, push: null, taskAccess: 'any' }, null);
  const follower = new TaskFollower(tasks);
  const id = await tasks.open(playing([{ say: 'hi' }]), follower);
  answersAtTheEnd(test, () => id);
  expect(await statesOf(follower, id)).toEqual(['working', 'completed']);
});

it('each step of an ended task is sent to a subscriber before the store answers', async () => {
  const test = await openSystem({ deferred: { pay: {} }, tools: [toolCalled('pay')] });
  const { system, clock } = test;
  const tasks = new CallerTasks({ system, push: null, taskAccess: 'any' }, null);
  const { id } = await parks(system, payment);
  expect((await tasks.find(id))?.state).toBe('deferred');
  answersAtTheEnd(test, () => id);
  const states = statesOf(new TaskFollower(tasks), id);
  await system.decide(id, decision('approve', clock.now()));
  expect(await states).toEqual(['working', 'completed']);
});
