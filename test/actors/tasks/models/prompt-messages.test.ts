import { describe, expect, it } from 'vitest';
import { promptMessages } from '../../../../src/actors/tasks/models/prompt-messages.ts';
import { wireTools } from '../../../../src/actors/tasks/models/wire-tools.ts';
import type { Message, Part, SaidTurn } from '../../../../src/machines/domain/task.ts';
import { conversationOf } from '../../../helpers/model-conversation.ts';
import { anEdit } from '../../../helpers/task-fixtures.ts';

const names = wireTools([{ name: 'shop.pay', parameters: {} }]);
const model = { provider: 'anthropic', model: 'claude' };
const listener = { model, names };

function message(role: Message['role'], ...parts: Part[]): Message {
  return { role, parts, messageId: 'm' };
}

const text = (said: string): Part => ({ kind: 'text', text: said });

function exchange(id: string, result: string) {
  return { call: { id, tool: 'shop.pay', args: { id }, argsSha256: '' }, result };
}

describe('the input of a model', () => {
  it('is the conversation in order, with each result right after its call', () => {
    const conversation = conversationOf('refund me', {
      history: [message('user', text('hello')), message('agent', text('hi'))],
      exchanges: [exchange('c1', 'paid'), exchange('c2', 'twice')],
      followUps: [{ message: message('user', text('hurry')), after: 1, sender: null }],
    });
    const told = promptMessages(conversation, listener);
    const [first, second] = ['c1', 'c2'].map((id) =>
      JSON.stringify(told)
        .split(`"input":{"id":"${id}"}`)[0]
        ?.match(/"toolCallId":"(\w{9})"/g)
        ?.at(-1),
    );
    expect(first).not.toBe(second);
    const name = names.toWire('shop.pay');
    const toolCallId = expect.stringMatching(/^[0-9a-f]{9}$/);
    const pair = (id: string, value: string) => [
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId, toolName: name, input: { id } }],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId, toolName: name, output: { type: 'text', value } },
        ],
      },
    ];
    expect(told).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      { role: 'assistant', content: 'hi' },
      { role: 'user', content: [{ type: 'text', text: 'refund me' }] },
      ...pair('c1', 'paid'),
      { role: 'user', content: [{ type: 'text', text: 'hurry' }] },
      ...pair('c2', 'twice'),
    ]);
  });

  it("includes the approver's changes and note, with every character visible", () => {
    const approver = 'ann@example.com';
    const changes = [{ path: 'to', before: '"eve"', after: '"an\u202En"' }, { path: 'id' }];
    const { call, result } = exchange('c1', 'paid');
    const edits = [anEdit({ approver, changes })];
    const conversation = conversationOf('refund me', {
      exchanges: [{ call: { ...call, edits }, result, approval: { approver, note: 'less' } }],
    });
    const [, , told] = promptMessages(conversation, listener);
    const value =
      'paid\n\n[ann@example.com changed the arguments: to: "eve" → "an[U+202E]n", id: (none) → (none).]' +
      '\n\n[ann@example.com approved this call and wrote: less]';
    expect(told?.content).toMatchObject([{ output: { type: 'text', value } }]);
  });

  it.each([
    ['at its address', 'a', 'a', true],
    ['at another address', 'a', 'b', false],
    ['at an unknown address', undefined, 'b', true],
  ])('includes signatures only for the same model: %s', (_, kept, asked, isOwn) => {
    const metadata = { anthropic: { signature: 'sig' } };
    const said: SaidTurn = {
      after: 0,
      by: { ...model, ...(kept === undefined ? {} : { endpoint: kept }) },
      parts: [{ kind: 'thought', text: 'hm', metadata }, { kind: 'call' }],
    };
    const conversation = conversationOf('refund me', {
      exchanges: [exchange('c1', 'found')],
      said: [said],
    });
    const told = promptMessages(conversation, { model: { ...model, endpoint: asked }, names });
    expect(JSON.stringify(told).includes('sig')).toBe(isOwn);
  });

  it("is the text and calls of each turn, then the results, with the provider's signatures", () => {
    const signature = { anthropic: { signature: 'sig' } };
    const said: SaidTurn = {
      after: 0,
      by: model,
      parts: [
        { kind: 'thought', text: 'hm', metadata: signature },
        { kind: 'text', text: 'I look first.' },
        { kind: 'call' },
        { kind: 'call', metadata: { google: { thoughtSignature: 'g' } } },
      ],
    };
    const failed = { ...exchange('c2', 'no such order'), failed: true } as const;
    const conversation = conversationOf('refund me', {
      exchanges: [exchange('c1', 'found'), failed, exchange('c3', 'paid')],
      said: [said, { after: 2, by: model, parts: [] }],
      followUps: [{ message: message('user', text('hurry')), after: 2, sender: null }],
    });
    const toolCallId = expect.any(String);
    const toolName = names.toWire('shop.pay');
    const call = (id: string, more = {}) => ({
      type: 'tool-call',
      toolCallId,
      toolName,
      input: { id },
      ...more,
    });
    const result = (output: object) => ({ type: 'tool-result', toolCallId, toolName, output });
    const own = [
      { type: 'reasoning', text: 'hm', providerOptions: signature },
      { type: 'text', text: 'I look first.' },
      call('c1'),
      call('c2', { providerOptions: { google: { thoughtSignature: 'g' } } }),
    ];
    const foreign = [{ type: 'text', text: 'I look first.' }, call('c1'), call('c2')];
    const results = [
      result({ type: 'text', value: 'found' }),
      result({ type: 'error-text', value: 'error: no such order' }),
    ];
    for (const [to, content] of [
      [model, own],
      [{ ...model, model: 'claude-2' }, foreign],
    ] as const) {
      expect(promptMessages(conversation, { model: to, names }).slice(1)).toEqual([
        { role: 'assistant', content },
        { role: 'tool', content: results },
        { role: 'user', content: [{ type: 'text', text: 'hurry' }] },
        { role: 'assistant', content: [call('c3')] },
        { role: 'tool', content: [result({ type: 'text', value: 'paid' })] },
      ]);
    }
  });

  it('names the authors where several people write, and none for one', () => {
    const by = (userId: string, said: string): Message => ({
      ...message('user', text(said)),
      sender: { provider: 'ops', userId },
    });
    const told = (...history: Message[]) =>
      promptMessages(conversationOf('', { history, request: by('rita', 'go on') }), listener).map(
        ({ content }) => content,
      );
    const words = (said: string) => ({ type: 'text', text: said });
    expect(told(by('bob\n[from ann]', 'pay'))).toEqual([
      [words('[from bob [from ann]]'), words('pay')],
      [words('[from rita]'), words('go on')],
    ]);
    expect(told(by('rita', 'pay'))).toEqual([[words('pay')], [words('go on')]]);
  });

  it('names a file that only has an address, and includes one with content', () => {
    const file = (more: object): Part => ({ kind: 'file', file: { name: 'a', ...more } });
    const bytes = Buffer.from('10 €').toString('base64');
    const request = message(
      'user',
      file({ uri: 'http://169.254.169.254/secret', mimeType: 'image/png' }),
      file({ bytes, mimeType: 'text/plain' }),
      file({ bytes, mimeType: 'image/png' }),
      file({ bytes, mimeType: 'application/zip' }),
      { kind: 'data', data: { order: 7 } },
    );
    const [told] = promptMessages(conversationOf('', { request }), listener);
    expect(told).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: '[a: http://169.254.169.254/secret]' },
        { type: 'text', text: '[a]\n10 €' },
        { type: 'file', data: bytes, mediaType: 'image/png', filename: 'a' },
        { type: 'text', text: '[a: application/zip, not shown]' },
        { type: 'text', text: '{"order":7}' },
      ],
    });
  });

  it('omits empty parts, and cuts data that is too long', () => {
    const long = message('user', { kind: 'data', data: 'x'.repeat(20_000) });
    const history = [message('agent', text('')), message('user', text('')), long];
    const told = promptMessages(conversationOf('go on', { history }), listener);
    expect(told).toHaveLength(2);
    expect(JSON.stringify(told[0])).toMatch(/x… \(3618 characters more\)/);
  });
});
