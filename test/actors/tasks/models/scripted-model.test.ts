import { describe, expect, it } from 'vitest';
import type { Conversation, Turn } from '../../../../src/actors/ports/model.ts';
import {
  readScript,
  type ScriptStep,
  scriptedModel,
} from '../../../../src/actors/tasks/models/scripted-model.ts';
import type { Part } from '../../../../src/machines/domain/task.ts';
import { aCall } from '../../../helpers/task-fixtures.ts';

interface Said extends Pick<Turn, 'text' | 'calls'> {
  tokens: string[];
}

async function turnOf(
  script: ScriptStep[],
  parts: Part[] = [],
  more: Partial<Conversation> = {},
): Promise<Said> {
  const tokens: string[] = [];
  const { text, calls, inputTokens, outputTokens } = await scriptedModel('demo', script).next(
    {
      taskId: 't-1',
      history: [],
      request: { role: 'user', parts, messageId: 'm-1' },
      exchanges: [],
      said: [],
      followUps: [],
      turns: 0,
      ...more,
    },
    { signal: new AbortController().signal, onToken: (token) => tokens.push(token) },
  );
  expect([inputTokens, outputTokens]).toEqual([0, 0]);
  return { text, calls, tokens };
}

describe('the scripted model', () => {
  it('runs one step in each turn', async () => {
    const script = [{ tool: 'pay', args: { amount: 5 } }, { tool: 'ping' }, { say: 'all done' }];
    const turns = await Promise.all([0, 1, 2].map((turns) => turnOf(script, [], { turns })));
    expect(turns).toEqual([
      { text: '', calls: [{ tool: 'pay', args: { amount: 5 } }], tokens: [] },
      { text: '', calls: [{ tool: 'ping', args: {} }], tokens: [] },
      { text: 'all done', calls: [], tokens: ['all ', 'done'] },
    ]);
  });

  it('inserts the last result into its text unchanged', async () => {
    const exchanges = ['first', '$& {result} 12'].map((result) => ({ call: aCall(), result }));
    const said = await turnOf([{ say: '{result}, or {result}' }], [], { exchanges });
    expect(said.text).toBe('$& {result} 12, or $& {result} 12');
    expect((await turnOf([{ say: 'nothing: {result}' }])).text).toBe('nothing: ');
  });

  it('runs the script of the message instead', async () => {
    const parts: Part[] = [
      { kind: 'text', text: 'please' },
      { kind: 'data', data: { note: 'not this one' } },
      { kind: 'data', data: { script: [{ say: 'mine' }] } },
    ];
    expect((await turnOf([{ say: 'configured' }], parts)).text).toBe('mine');
    expect((await turnOf([], parts, { turns: 1 })).text).toMatch(/^echo: please\n/);
  });

  it('repeats its input when no step is left', async () => {
    const parts: Part[] = [
      { kind: 'text', text: 'hello' },
      { kind: 'data', data: { a: 1 } },
      { kind: 'file', file: { name: 'a.txt', bytes: '' } },
      { kind: 'file', file: { uri: 'https://example.com/b' } },
      { kind: 'file', file: { bytes: '' } },
    ];
    expect((await turnOf([], parts)).text).toBe(
      'echo: hello\n{"a":1}\na.txt\nhttps://example.com/b\na file',
    );
  });

  it('echoes at most 16 KiB characters, and whole ones', async () => {
    const long = `${'x'.repeat(16 * 1024 - 1)}🧾 and more`;
    const { text, tokens } = await turnOf([], [{ kind: 'text', text: long }]);
    expect(text).toBe(`echo: ${'x'.repeat(16 * 1024 - 1)}\ufffd`);
    expect(tokens.join('')).toBe(text);
  });

  it('fails with a message for an invalid script', async () => {
    const parts: Part[] = [{ kind: 'data', data: { script: [{ say: 'fine' }, { tool: 7 }] } }];
    await expect(turnOf([], parts)).rejects.toThrow(
      'step 2 of the script must be {tool, args} or {say}',
    );
  });
});

describe('reading a script', () => {
  it('accepts steps and drops unknown keys', () => {
    expect(
      readScript([
        { say: 'a', tool: 'ignored' },
        { tool: 'b', x: 1 },
        { tool: 'c', args: { d: [1] } },
        { tool: 'e', args: [1] },
        { tool: 'f', args: null },
      ]),
    ).toEqual([
      { say: 'a' },
      { tool: 'b' },
      { tool: 'c', args: { d: [1] } },
      { tool: 'e', args: [1] },
      { tool: 'f', args: null },
    ]);
    expect(readScript([])).toEqual([]);
  });

  it.each([[null], ['text'], [{ say: 'alone' }], [7]])(
    'refuses %j, which is not a list',
    (value) => {
      expect(() => readScript(value)).toThrow('the script must be a list of steps');
    },
  );

  it.each([[null], ['say'], [{}], [{ say: 1 }], [[]]])('refuses %j as a step', (step) => {
    expect(() => readScript([step])).toThrow('step 1 of the script must be {tool, args} or {say}');
  });
});
