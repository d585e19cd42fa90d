import { expect, it } from 'vitest';
import { describeTask } from '../../../src/machines/task/describe-task.ts';
import { finish, restingStates, type Step, step } from '../../helpers/step-task.ts';
import { accepted, allowed, returned, said, saved } from '../../helpers/task-fixtures.ts';

const extras = { structured: { total: 3 }, parts: [{ type: 'image', data: 'AA==' }] };

/** The task of a call that returned these extras. */
function ended(governing: Step, end: (step: Step) => Step) {
  const recording = finish(step(finish(governing, 'govern', allowed()), saved()), 'runTool', {
    ...returned('done'),
    ...extras,
  });
  const { snapshot } = end(step(recording, saved()));
  const { state, text, extras: shown } = describeTask(snapshot, 0, 1, null);
  return [state, text, shown];
}

it('a run without a model shows what its result has beyond the text', () => {
  const governing = finish(restingStates.accepting(), 'accept', accepted());
  expect(ended(governing, (completed) => completed)).toEqual(['completed', 'done', extras]);
});

it('a run with a model shows the text of its model alone', () => {
  const answer = (thinking: Step): Step => finish(thinking, 'think', said('done'));
  expect(ended(restingStates.governing(), answer)).toEqual(['completed', 'done', undefined]);
});
