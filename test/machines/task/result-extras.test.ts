import { expect, it } from 'vitest';
import type { Surface } from '../../../src/machines/domain/task.ts';
import { describeTask } from '../../../src/machines/task/describe-task.ts';
import { finish, restingStates, step } from '../../helpers/step-task.ts';
import { allowed, returned, said, saved } from '../../helpers/task-fixtures.ts';

const extras = { structured: { total: 3 }, parts: [{ type: 'image', data: 'AA==' }] };

/** The task of one call with these extras, after the model has answered. */
function answered(surface: Surface, answer: string) {
  const allowedCall = finish(restingStates.governing(undefined, { surface }), 'govern', allowed());
  const ended = finish(step(allowedCall, saved()), 'runTool', { ...returned('done'), ...extras });
  const { snapshot } = finish(step(ended, saved()), 'think', said(answer));
  return describeTask(snapshot, 0, 1, null);
}

it.each<[string, Surface, string, object | undefined]>([
  ['shows them to an MCP client', 'mcp', 'done', extras],
  ['keeps them back where a rule changed the answer', 'mcp', 'done [redacted]', undefined],
  ['keeps none for other callers', 'a2a', 'done', undefined],
])('a task with a result that has more than text %s', (_, surface, answer, shown) => {
  const task = answered(surface, answer);
  expect([task.state, task.text, task.extras]).toEqual(['completed', answer, shown]);
});
