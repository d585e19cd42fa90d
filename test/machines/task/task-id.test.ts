import { expect, it } from 'vitest';
import { isTaskId } from '../../../src/machines/task/task-id.ts';

it.each(['a', 'Z', '7', 'task-1', 'Order_7.2:retry', '-begins-with-a-sign', 'x'.repeat(128)])(
  'takes %s as the id of a task',
  (text) => {
    expect(isTaskId(text)).toBe(true);
  },
);

it.each([
  ['nothing', ''],
  ['what is too long', 'x'.repeat(129)],
  ['a sign that is none of an id in front', '/task'],
  ['one at the end', 'task/'],
  ['one between', 'a b'],
  ['a way to another folder', '../task'],
  ['a second line', 'task\n'],
  ['a letter of another script', 'tаsk'],
  ['a number', 7],
  ['what is no text and reads like one', ['task']],
  ['null', null],
  ['what is not there', undefined],
])('does not take %s as the id of a task', (_, text) => {
  expect(isTaskId(text)).toBe(false);
});
