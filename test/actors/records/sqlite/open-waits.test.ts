import { expect, it } from 'vitest';
import { wordsOfLostWaits } from '../../../../src/actors/records/sqlite/open-waits.ts';
import { TaskInLog } from '../../../../src/actors/records/store/task-in-log.ts';

it('the wait of a call is reported, and never negative', () => {
  const waits = [7_000, 9_000].map((since) => {
    const task = new TaskInLog('t-1');
    task.seq = 4;
    task.waiting = { call: { callId: 'c-1' }, policySha256: 'ef56', tool: 'pay', since };
    return task;
  });
  const word = {
    event: 'task_deferred_abandoned',
    ts: '1970-01-01T00:00:08.000Z',
    task_id: 't-1',
    seq: 5,
  };
  const named = { call_id: 'c-1', policy_sha256: 'ef56' };
  expect(wordsOfLostWaits([...waits, new TaskInLog('t-2')], 8_000)).toEqual([
    { ...word, fields: { ...named, tool: 'pay', reason: 'store_lost', wait_ms: 1_000 } },
    { ...word, fields: { ...named, tool: 'pay', reason: 'store_lost', wait_ms: 0 } },
  ]);
});
