import { expect, it } from 'vitest';
import { readAgentTask, readAgentTasks } from '../../../../src/http/wire/dashboard/agent-task.ts';

const status = { state: 'working', timestamp: '2026-01-01T00:00:00.000Z' };

it('a task of an agent has an id that is a valid path segment, or none', () => {
  const ids = ['t1', 'a.b:c_d-e', '../healthz', 't1?x', 't 1', 't1\r\nHost: x', '', 7];
  const tasks = ids.map((id) => ({ id, status }));
  expect(readAgentTasks({ tasks }).tasks.map(({ id }) => id)).toEqual(['t1', 'a.b:c_d-e']);
  expect(readAgentTask({ id: '../healthz', status })).toBeNull();
});
