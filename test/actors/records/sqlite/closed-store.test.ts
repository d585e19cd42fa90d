import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { agentEntity } from '../../../../src/actors/records/records.ts';
import { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { collectGarbage } from '../../../helpers/collect-garbage.ts';
import { patient } from '../../../helpers/patient.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';

/** Opens and closes a store, of which nothing but this reference is left. */
async function closedStore(): Promise<WeakRef<SqliteStore>> {
  const folder = temporaryFolder();
  const audit = {
    path: join(folder, 'audit.ndjson'),
    chain: true,
    entity: agentEntity('till', {}),
  };
  const store = await SqliteStore.open({ path: join(folder, 'tasks.db'), audit });
  await store.close();
  return new WeakRef(store);
}

it('a closed store is freed, so that many agents may follow one another in a process', async () => {
  const stores = [await closedStore(), await closedStore(), await closedStore()];
  await vi.waitFor(() => {
    collectGarbage();
    // The newest may still be in hand; an assertion that fails would hold on to a store itself.
    const isKept = stores.slice(0, -1).map((store) => store.deref() !== undefined);
    expect(isKept).toEqual([false, false]);
  }, patient);
});
