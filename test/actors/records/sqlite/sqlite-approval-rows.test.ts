import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SqliteApprovalRows } from '../../../../src/actors/records/sqlite/sqlite-approval-rows.ts';
import type { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import type {
  ApprovalRow,
  ApprovalWrite,
} from '../../../../src/actors/records/store/approval-rows.ts';
import type { Task } from '../../../../src/machines/domain/task.ts';
import { keepTasks } from '../../../helpers/keep-tasks.ts';
import { aTask } from '../../../helpers/stored-tasks.ts';
import { aDeferral } from '../../../helpers/task-fixtures.ts';
import { openStore, storeFiles, temporaryFolder } from '../../../helpers/test-system.ts';

let folder: string;
let store: SqliteStore;

beforeEach(async () => {
  folder = temporaryFolder();
  store = await openStore(folder);
});
afterEach(() => store.close());

const keep = (...tasks: Task[]): Promise<void> => keepTasks(store, tasks);

function parked(overrides: Partial<Task> = {}, deferral = {}): Task {
  const { id = 't-1' } = overrides;
  return aTask({
    state: 'deferred',
    stage: 'asked',
    deferral: aDeferral({ id: `${id}-d`, ...deferral }),
    ...overrides,
  });
}

function told(row: ApprovalRow | undefined, overrides: Partial<ApprovalWrite> = {}): ApprovalWrite {
  if (row === undefined) throw new Error('there is no such row');
  const { position, version, notice } = row;
  return { position, version, ref: null, told: notice, isClosed: false, ...overrides };
}

describe('the approval messages in the store', () => {
  it('are stored completely or not at all, and are synced with the next commit', async () => {
    await keep(parked());
    const database = new DatabaseSync(storeFiles(folder).path);
    onTestFinished(() => database.close());
    const approvals = new SqliteApprovalRows(database);
    const [row] = await approvals.ofTask('t-1');
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const writes = [
      told(row, { ref: { ts: '1' } }),
      told(row, { told: circular as unknown as ApprovalWrite['told'] }),
    ];
    await expect(approvals.keep(writes)).rejects.toThrow('circular');
    const settings = () => [
      database.isTransaction,
      database.prepare('PRAGMA synchronous').get()?.['synchronous'],
    ];
    expect([await approvals.ofTask('t-1'), settings()]).toEqual([[row], [false, 2]]);
    await approvals.keep([told(row, { ref: { ts: '1' } })]);
    expect([(await approvals.ofTask('t-1'))[0]?.ref, settings()]).toEqual([
      { ts: '1' },
      [false, 2],
    ]);
  });

  it('include a task that is nested too deeply for the JSON functions of SQLite', async () => {
    let args: object = {};
    for (let level = 0; level < 1_200; level += 1) args = { args };
    await keep(parked({}, { args }), parked({ id: 't-2' }));
    await keep(aTask({ revision: 2, state: 'canceled' }), parked({ id: 't-2', revision: 2 }));
    expect(
      await Promise.all(
        ['t-1', 't-2'].map(async (id) => (await store.approvals.ofTask(id)).length),
      ),
    ).toEqual([1, 1]);
  });
});
