import { expect } from 'vitest';
import type { TaskStore } from '../../src/actors/records/store/task-store.ts';
import type { Task } from '../../src/machines/domain/task.ts';
import { aWrite } from './stored-tasks.ts';

/** Keeps tasks in a store, in one commit. */
export async function keepTasks(store: TaskStore, tasks: readonly Task[]): Promise<void> {
  for (const task of tasks) void store.save(task.id, () => aWrite(task));
  expect(await store.flush()).toBeNull();
}
