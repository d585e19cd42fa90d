import { expect, it } from 'vitest';
import type { Message, Part } from '../../../src/machines/domain/task.ts';
import { titleOf } from '../../../src/machines/task/task-title.ts';
import { aDeferral } from '../../helpers/task-fixtures.ts';

const message = (role: Message['role'], ...parts: Part[]): Message => ({
  ...{ role, parts, messageId: 'm-1' },
});
const text = (words: string): Part => ({ kind: 'text', text: words });

it.each<[string, Message[], string]>([
  ['no message', [], ''],
  ['no text', [message('user', { kind: 'data', data: { text: 'hidden' } })], ''],
  [
    'the first message of the user',
    [message('agent', text('hello')), message('user', text('a')), message('user', text('b'))],
    'a',
  ],
  [
    'every text of it, in one line',
    [message('user', text(' pay\n back '), { kind: 'data', data: 1 }, text('now'))],
    'pay back now',
  ],
  ['invisible characters, as codes', [message('user', text('a\u202eb'))], 'a\\u202eb'],
  ['120 characters', [message('user', text('x'.repeat(120)))], 'x'.repeat(120)],
  ['the start of a longer text', [message('user', text('x'.repeat(121)))], `${'x'.repeat(119)}…`],
])('the title of a task has %s', (_, history, title) => {
  expect(titleOf({ history })).toBe(title);
});

it('the title of a listed task is the stored one', () => {
  expect(titleOf({ title: 'stored', history: [] })).toBe('stored');
});

it('the title of a held call of another program is its arguments, as people may see them', () => {
  const hold = { key: 'k', tool: 'Bash', askedSha256: '', outcomeWithin: 1, releaseWithin: 1 };
  const shown = { command: 'rm -rf build', key: '[REDACTED]', force: true };
  const deferral = aDeferral({ args: { command: 'rm' }, shown });
  expect(titleOf({ history: [], hold, deferral })).toBe(
    'command: rm -rf build, key: [REDACTED], force: true',
  );
  expect(titleOf({ history: [], hold, deferral: null })).toBe('');
});
