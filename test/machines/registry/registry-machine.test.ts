import { describe, expect, it } from 'vitest';
import { createActor, fromCallback, fromPromise } from 'xstate';
import {
  type DeadlineEvent,
  registryMachine,
} from '../../../src/machines/registry/registry-machine.ts';

const brokenTask = fromCallback(() => {
  throw new Error('a defect');
});
const parkedTask = fromPromise(() => Promise.withResolvers<never>().promise);

function startRegistry() {
  const deadlines: number[] = [];
  const buried: { actorId: string; error: unknown }[] = [];
  const registry = createActor(
    registryMachine.provide({
      actors: {
        watchDeadlines: fromCallback<DeadlineEvent>(({ receive }) => {
          receive(({ at }) => deadlines.push(at));
        }),
      },
      actions: { buryTask: (_, broken) => buried.push(broken) },
    }),
  );
  return { registry: registry.start(), deadlines, buried };
}

describe('the registry', () => {
  it('accepts nothing before it is opened', () => {
    const { registry } = startRegistry();
    expect([...registry.getSnapshot().tags]).toEqual(['starting']);
    registry.send({ type: 'registry.accept' });
    expect([...registry.getSnapshot().tags]).toEqual(['accepting']);
  });

  it('that drains before it was opened stays closed', () => {
    const { registry } = startRegistry();
    registry.send({ type: 'registry.drain' });
    registry.send({ type: 'registry.accept' });
    expect([...registry.getSnapshot().tags]).toEqual(['draining']);
  });

  it('accepts tasks until it drains, and never again', () => {
    const { registry } = startRegistry();
    registry.send({ type: 'registry.accept' });
    expect(registry.getSnapshot().hasTag('accepting')).toBe(true);
    registry.send({ type: 'registry.drain' });
    registry.send({ type: 'registry.drain' });
    expect(registry.getSnapshot().hasTag('accepting')).toBe(false);
    expect(registry.getSnapshot().hasTag('draining')).toBe(true);
  });

  it.each([false, true])('parks a task (draining: %s)', (isDraining) => {
    const { registry } = startRegistry();
    if (isDraining) registry.send({ type: 'registry.drain' });
    const ref = createActor(parkedTask, { id: 'task-1', parent: registry }).start();
    registry.send({ type: 'task.rest', ref });
    expect(ref.getSnapshot().status).toBe('stopped');
  });

  it('has a scheduler that accepts deadlines', () => {
    const { registry, deadlines } = startRegistry();
    registry.getSnapshot().children.deadlines?.send({ type: 'deadline.known', at: 5_000 });
    expect(deadlines).toEqual([5_000]);
  });

  it.each([false, true])('removes only the task that crashed (draining: %s)', (isDraining) => {
    const { registry, buried } = startRegistry();
    if (isDraining) registry.send({ type: 'registry.drain' });
    const sibling = createActor(parkedTask, { id: 'task-1', parent: registry }).start();
    createActor(brokenTask, { id: 'task-2', parent: registry }).start();
    expect(buried).toEqual([{ actorId: 'task-2', error: new Error('a defect') }]);
    expect(sibling.getSnapshot().status).toBe('active');
    expect(registry.getSnapshot().status).toBe('active');
  });

  it('continues after a task has ended', async () => {
    const { registry, buried } = startRegistry();
    const ended = createActor(
      fromPromise(() => Promise.resolve()),
      { parent: registry },
    );
    const done = new Promise<void>((resolve) => ended.subscribe({ complete: resolve }));
    ended.start();
    await done;
    expect(registry.getSnapshot().status).toBe('active');
    expect(buried).toEqual([]);
  });
});
