import { describe, expect, it } from 'vitest';
import { mergeTexts } from '../../../src/actors/providers/merge-texts.ts';

const event = (data: object, lead = '') => `${lead}data: ${JSON.stringify(data)}\n\n`;

const chat = (delta: object, more: object = {}) =>
  event({ id: 'c1', choices: [{ index: 0, delta, finish_reason: null, ...more }] });
const response = (delta: string, sequence_number: number, more: object = {}) =>
  event(
    {
      type: 'response.output_text.delta',
      item_id: 'm',
      output_index: 0,
      content_index: 0,
      delta,
      sequence_number,
      ...more,
    },
    'event: response.output_text.delta\n',
  );
const block = (delta: object, index = 0) =>
  event({ type: 'content_block_delta', index, delta }, 'event: content_block_delta\n');
const candidate = (part: object, total: number, more: object = {}) =>
  event({
    candidates: [{ content: { parts: [part], role: 'model' }, ...more }],
    usageMetadata: { totalTokenCount: total },
  });

describe('text events for one place', () => {
  it.each([
    [
      'chat',
      chat({ content: 'a"\n' }) + chat({ content: 'b' }) + chat({ content: 'é' }),
      chat({ content: 'a"\nbé' }),
    ],
    [
      'chat, thoughts',
      chat({ reasoning_content: 'a' }) + chat({ reasoning_content: 'b' }),
      chat({ reasoning_content: 'ab' }),
    ],
    ['responses', response('a', 4) + response('b', 5), response('ab', 5)],
    [
      'anthropic',
      block({ type: 'text_delta', text: 'a' }) + block({ type: 'text_delta', text: 'b' }),
      block({ type: 'text_delta', text: 'ab' }),
    ],
    [
      'anthropic, arguments',
      block({ type: 'input_json_delta', partial_json: '{"a":1' }) +
        block({ type: 'input_json_delta', partial_json: '0}' }),
      block({ type: 'input_json_delta', partial_json: '{"a":10}' }),
    ],
    [
      'google',
      candidate({ text: 'a' }, 7) + candidate({ text: 'b' }, 8),
      candidate({ text: 'ab' }, 8),
    ],
  ])('become one event: %s', (_, sent, merged) => {
    expect(mergeTexts(sent)).toBe(merged);
  });

  it('become one event with either line end', () => {
    const sent = (chat({ content: 'a' }) + chat({ content: 'b' })).replaceAll('\n', '\r\n');
    expect(mergeTexts(sent)).toBe(chat({ content: 'ab' }));
  });

  it('are merged between other events, which keep their bytes', () => {
    const first = ': hi\n\ndata:  {"choices" : [ ]}\n\n';
    const last = `${chat({}, { finish_reason: 'stop' })}data: [DONE]\n\n`;
    const sent = first + chat({ content: 'a' }) + chat({ content: 'b' }) + last;
    expect(mergeTexts(sent)).toBe(first + chat({ content: 'ab' }) + last);
  });
});

describe('events that differ in more than text stay unchanged', () => {
  it.each([
    ['a role', chat({ role: 'assistant', content: 'a' }) + chat({ content: 'b' })],
    ['text after a thought', chat({ reasoning: 'a' }) + chat({ content: 'b' })],
    ['a finish reason', chat({ content: 'a' }) + chat({ content: 'b' }, { finish_reason: 'stop' })],
    [
      'probabilities',
      chat({ content: 'a' }, { logprobs: {} }) + chat({ content: 'b' }, { logprobs: {} }),
    ],
    ['calls', chat({ tool_calls: [{ index: 0 }] }) + chat({ tool_calls: [{ index: 0 }] })],
    ['two choices', event({ choices: [{}, {}] }) + event({ choices: [{}, {}] })],
    [
      'counts of tokens',
      chat({ content: 'a' }) +
        event({ choices: [{ index: 0, delta: { content: 'b' } }], usage: {} }),
    ],
    ['a text that is not a string', chat({ content: null }) + chat({ content: null })],
    [
      'probabilities of a response',
      response('a', 1, { logprobs: [1] }) + response('b', 2, { logprobs: [1] }),
    ],
    ['two places of a response', response('a', 1) + response('b', 2, { item_id: 'n' })],
    [
      'two blocks',
      block({ type: 'text_delta', text: 'a' }, 0) + block({ type: 'text_delta', text: 'b' }, 1),
    ],
    [
      'a signature',
      block({ type: 'signature_delta', signature: 'a' }) +
        block({ type: 'signature_delta', signature: 'b' }),
    ],
    [
      'a thought of google',
      candidate({ text: 'a', thought: true }, 1) + candidate({ text: 'b' }, 2),
    ],
    [
      'a signature of google',
      candidate({ text: 'a', thoughtSignature: 's' }, 1) +
        candidate({ text: 'b', thoughtSignature: 't' }, 2),
    ],
    [
      'an end of google',
      candidate({ text: 'a' }, 1) + candidate({ text: 'b' }, 2, { finishReason: 'STOP' }),
    ],
    ['no JSON', 'data: {"choices":[}\n\ndata: {"choices":[}\n\n'],
    ['an unfinished event', `${chat({ content: 'a' })}data: {"choices"`],
    [
      'another kind of event',
      event({ choices: [] }, 'event: a\n') + event({ choices: [] }, 'id: 1\n'),
    ],
  ])('%s', (_, sent) => {
    expect(mergeTexts(sent)).toBe(sent);
  });
});
