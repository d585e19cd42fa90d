import { expect, it } from 'vitest';
import { Handovers, handoverNotice } from '../../../../src/actors/records/postgres/handovers.ts';
import type { PostgresDatabase } from '../../../../src/actors/records/postgres/postgres-database.ts';
import { silentLog } from '../../../../src/actors/silent-log.ts';

it('a handover sends no notice for the notices that it receives, including its own', async () => {
  const statements: string[] = [];
  const looks = ['nothing', 'nothing', 'nothing', 'the answer'];
  const database = {
    schema: 'holdpoint',
    query: async (sql: string) => {
      const [statement = ''] = sql.trim().split(/[ \n]/);
      statements.push(statement);
      if (statement === 'WITH') return [{}];
      const look = looks.shift();
      // PostgreSQL delivers a notice to its sender too.
      queueMicrotask(() => handovers.heard());
      return look === 'the answer' ? [{ answer: look }] : [];
    },
  };
  const handovers = new Handovers({
    database: database as unknown as PostgresDatabase,
    ...{ replica: 'older', channel: handoverNotice, log: silentLog },
  });

  const request = { taskId: 'order-1', machineVersion: 2, request: '{}' };
  const answer = await handovers.send(request);

  expect(answer).toBe('the answer');
  expect(statements).toEqual(['WITH', 'DELETE', 'DELETE', 'DELETE', 'DELETE']);
});
