import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editorSchema } from '../../../../../src/actors/config/config.ts';
import {
  placeIn,
  type Schema,
  wordsAt,
} from '../../../../../src/ui/dashboard/views/config/schema-words.ts';

const schema = editorSchema('service.yaml') as Schema;
const words = (...path: string[]) => wordsAt(schema, path).map(({ word }) => word);

describe('the completions of a schema', () => {
  it('are its keys and the values of a key', () => {
    expect(words()).toEqual(expect.arrayContaining(['agent_id', 'model', 'egress', 'audit']));
    expect(words('model')).toEqual(expect.arrayContaining(['provider', 'name']));
    expect(words('model', 'provider')).toEqual([
      ...['scripted', 'openai', 'openai-compatible', 'anthropic', 'google', 'ollama'],
    ]);
    expect(words('audit', 'signing', 'enabled')).toEqual(['true', 'false']);
    expect(words('nothing', 'here')).toEqual([]);
  });

  it('have their descriptions', () => {
    expect(wordsAt(schema, []).find(({ word }) => word === 'agent_id')?.about).toBe(
      'Name of the agent, in lower case with hyphens.',
    );
  });
});

describe('the place in a string', () => {
  it.each([
    ['', { path: [], isValue: false, word: '' }],
    ['mod', { path: [], isValue: false, word: 'mod' }],
    ['model:\n  pro', { path: ['model'], isValue: false, word: 'pro' }],
    ['model:\n  provider: ', { path: ['model', 'provider'], isValue: true, word: '' }],
    ['model:\n  provider: open', { path: ['model', 'provider'], isValue: true, word: 'open' }],
    [
      'audit:\n  # how\n  path: x\n  signing:\n    enabled: t',
      { path: ['audit', 'signing', 'enabled'], isValue: true, word: 't' },
    ],
    ['a:\n  b: 1\nc:\n  d', { path: ['c'], isValue: false, word: 'd' }],
    ['audit:\n  sinks:\n    - ty', { path: ['audit', 'sinks'], isValue: false, word: 'ty' }],
    ['sinks:\n- ty', { path: ['sinks'], isValue: false, word: 'ty' }],
  ])('%j is %j', (text, place) => {
    expect(placeIn(text)).toEqual(place);
  });

  it('is found in any typed text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab:- \n#"[{\t') }), (text) => {
        expect(Array.isArray(wordsAt(schema, placeIn(text).path))).toBe(true);
      }),
    );
  });
});
