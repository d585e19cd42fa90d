import { expect, it } from 'vitest';
import { isTaskId } from '../../../src/machines/task/task-id.ts';

it.each(['a', 'Z', '7', 'task-1', 'Order_7.2:retry', '-begins-with-a-sign', 'x'.repeat(128)])(
  'accepts %s as the id of a task',
  (text) => {
    expect(isTaskId(text)).toBe(true);
  },
);

it.each([
  ['nothing', ''],
  ['a string that is too long', 'x'.repeat(129)],
  ['a leading sign that ids do not have', '/task'],
  ['a trailing sign that ids do not have', 'task/'],
  ['a sign in the middle that ids do not have', 'a b'],
  ['a path to another folder', '../task'],
  ['a second line', 'task\n'],
  ['a letter of another script', 'tаsk'],
  ['a number', 7],
  ['a value that is not a string and prints like one', ['task']],
  ['null', null],
  ['undefined', undefined],
])('refuses %s as the id of a task', (_, text) => {
  expect(isTaskId(text)).toBe(false);
});
