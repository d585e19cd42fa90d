import { describe, expect, it } from 'vitest';
import { claimed } from '../../../src/actors/tasks/claimed-task.ts';
import { kindsOfStores } from '../../helpers/kinds-of-stores.ts';
import { aTask, aWrite } from '../../helpers/stored-tasks.ts';

describe.each(kindsOfStores)('a task that another daemon takes over, in $kind', ({ make }) => {
  it('is stored under a new revision with the snapshot that it had', async () => {
    const store = await (await make()).open();
    const snapshot = { value: { working: 'thinking' }, context: { pending: [] } };
    await store.save('t-1', () => aWrite(aTask(), { snapshot }));
    const stored = await store.rows.read('t-1');
    if (stored === undefined) throw new Error('the task was saved');
    const taken = await claimed(stored, store);
    expect(taken.task.revision).toBe(stored.task.revision + 1);
    expect(await store.rows.read('t-1')).toEqual(taken);
    expect(taken.snapshot).toEqual(snapshot);
  });
});
