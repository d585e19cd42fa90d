import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MarkdownBlocks } from '../../../../../src/ui/dashboard/views/chat/markdown-blocks.ts';
import { sentencesAfter } from '../../../../../src/ui/dashboard/views/chat/sentences.ts';
import {
  newTurn,
  readToldTask,
  turnsOf,
  withProgress,
  withTask,
} from '../../../../../src/ui/dashboard/views/chat/turn.ts';

const told = { id: 't-1', session: 'c-1', state: 'working', note: '', asked: 'Hi', answer: null };

describe('a turn', () => {
  it('keeps words and calls in the order of their arrival', () => {
    const turn = [
      { phase: 'token', text: 'Let me ' },
      { phase: 'token', text: 'look.' },
      { phase: 'tool_start', tool: 'lookup' },
      { phase: 'tool_start', tool: 'pay' },
      { phase: 'tool_end', tool: 'lookup' },
      { phase: 'token', text: 'Pai' },
      { phase: 'unheard_of', text: 'x' },
    ].reduce(withProgress, newTurn('Hi'));
    expect(turn.parts).toEqual([
      { kind: 'text', text: 'Let me look.' },
      { kind: 'tool', tool: 'lookup', running: false },
      { kind: 'tool', tool: 'pay', running: true },
      { kind: 'text', text: 'Pai' },
    ]);
    expect(withTask(turn, { ...told, state: 'completed', answer: 'Paid.' })).toEqual({
      asked: 'Hi',
      task: 't-1',
      state: 'completed',
      note: '',
      parts: [
        { kind: 'text', text: 'Let me look.' },
        { kind: 'tool', tool: 'lookup', running: false },
        { kind: 'tool', tool: 'pay', running: false },
        { kind: 'text', text: 'Paid.' },
      ],
    });
  });

  it('shows the final answer instead of the streamed part', () => {
    const turn = withProgress(newTurn('Hi'), { phase: 'token', text: 'The key is 123' });
    const done = withTask(turn, { ...told, state: 'completed', answer: 'The key is [redacted]' });
    expect(done.parts).toEqual([{ kind: 'text', text: 'The key is [redacted]' }]);
  });

  it("reads tasks and sessions in the agent's format", () => {
    const message = (role: string, text: string) => ({ role, parts: [{ kind: 'text', text }] });
    expect(
      readToldTask({
        id: 't-1',
        contextId: 'c-1',
        status: { state: 'completed', message: message('agent', 'done') },
        history: [message('user', 'Hi')],
        artifacts: [{ parts: [{ kind: 'text', text: 'Hello' }] }],
      }),
    ).toEqual({ ...told, state: 'completed', note: 'done', answer: 'Hello' });
    expect(readToldTask({ id: 7 })).toBeNull();
    const messages = [message('user', 'Hi'), message('agent', 'Hello'), message('user', 'Bye')];
    expect(turnsOf(messages).map(({ asked, parts }) => [asked, parts])).toEqual([
      ['Hi', [{ kind: 'text', text: 'Hello' }]],
      ['Bye', []],
    ]);
    expect(turnsOf('nothing')).toEqual([]);
  });
});

describe('the blocks of a growing text', () => {
  const whole =
    '# A\n\nOne *two*\nthree.\n\n- a\n- b\n\n  c\n\n```js\n1\n\n2\n```\n\n| a |\n|---|\n| b |\n\nEnd.';

  it('equal those of the whole text, for any split', () => {
    const expected = new MarkdownBlocks().read(whole);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: whole.length }), { maxLength: 12 }), (cuts) => {
        const blocks = new MarkdownBlocks();
        for (const cut of cuts.toSorted((one, other) => one - other))
          blocks.read(whole.slice(0, cut));
        expect(blocks.read(whole).join('').replaceAll(/\s/g, '')).toBe(
          expected.join('').replaceAll(/\s/g, ''),
        );
      }),
    );
  });

  it('start again with another text', () => {
    const blocks = new MarkdownBlocks();
    blocks.read('one\n\ntwo');
    expect(blocks.read('three')).toEqual(['three']);
  });
});

it('only whole sentences are read out', () => {
  expect(sentencesAfter('One. Two is', 0)).toBe('One.');
  expect(sentencesAfter('One. Two is', 4)).toBe('');
  expect(sentencesAfter('One. Two is 3.5 long! And', 4)).toBe(' Two is 3.5 long!');
});
