import { describe, expect, it } from 'vitest';
import {
  exchangeTokens,
  messageTokens,
  saidTokens,
} from '../../../src/machines/conversation/estimate-tokens.ts';
import type { Message, Part, SaidPart } from '../../../src/machines/domain/task.ts';
import { aCall } from '../../helpers/task-fixtures.ts';

const of = (length: number) => 'x'.repeat(length);
const file = (fields: Extract<Part, { kind: 'file' }>['file']): Part => ({
  kind: 'file',
  file: fields,
});

describe('a message', () => {
  it.each<[string, Part[], number]>([
    ['nothing', [], 8],
    [
      'two texts',
      [
        { kind: 'text', text: of(40) },
        { kind: 'text', text: of(41) },
      ],
      8 + 10 + 11,
    ],
    ['data, as JSON', [{ kind: 'data', data: { order: of(28) } }], 8 + 10],
    ['data, up to the shown length', [{ kind: 'data', data: of(99_999) }], 8 + 4_096],
    [
      'a text file, as its text',
      [file({ name: of(12), mimeType: 'text/csv', bytes: of(400) })],
      8 + 3 + 100,
    ],
    [
      'a JSON file, as its text',
      [file({ name: of(12), mimeType: 'application/json', bytes: of(400) })],
      8 + 3 + 100,
    ],
    ['a text at a URL', [file({ mimeType: 'text/csv', uri: of(80) })], 8],
    ['a text without a name', [file({ mimeType: 'text/csv', bytes: of(400) })], 8 + 100],
    [
      'a file at a URL',
      [file({ name: of(12), mimeType: 'image/png', uri: of(80) })],
      8 + 3 + 20 + 8,
    ],
    ['an empty file', [file({})], 8 + 8],
    ['a file without a media type', [file({ name: of(12), bytes: of(65) })], 8 + 1_600 + 2],
    [
      'a media type that ends in text',
      [file({ mimeType: 'x/text/', bytes: of(64) })],
      8 + 1_600 + 1,
    ],
  ])('of %s is estimated', (_name, parts, tokens) => {
    expect(messageTokens({ role: 'user', messageId: 'm', parts })).toBe(tokens);
  });

  it('is estimated once, in any number of turns', () => {
    let readings = 0;
    const message: Message = {
      role: 'user',
      messageId: 'm',
      get parts(): Part[] {
        readings += 1;
        return [{ kind: 'text', text: of(40) }];
      },
    };
    expect([messageTokens(message), messageTokens(message), readings]).toEqual([18, 18, 1]);
  });
});

describe('the estimate of a run', () => {
  it('counts a call with its tool, its arguments and its result', () => {
    const call = aCall({ tool: of(12), args: { order: of(28) } });
    expect(exchangeTokens({ call, result: of(80) })).toBe(16 + 3 + 10 + 20);
  });

  it.each<[string, SaidPart[], number]>([
    ['nothing', [], 0],
    ['a call', [{ kind: 'call' }], 0],
    ['a call with a signature', [{ kind: 'call', metadata: { g: { s: of(26) } } }], 10],
    ['a text', [{ kind: 'text', text: of(40) }], 8 + 10],
    [
      'a thought with a signature, and a text',
      [
        { kind: 'thought', text: of(40), metadata: { g: { s: of(26) } } },
        { kind: 'text', text: of(4) },
      ],
      8 + 10 + 10 + 8 + 1,
    ],
  ])('counts of a turn %s', (_name, parts, tokens) => {
    expect(saidTokens({ after: 0, by: { provider: 'p', model: 'm' }, parts })).toBe(tokens);
  });
});
