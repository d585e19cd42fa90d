import { describe, expect, it } from 'vitest';
import { readableMessage } from '../../../../src/actors/tools/mcp/readable-message.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { connected, listed, PuppetFolder, puppetConfig } from './puppet.ts';

const said = (text: string) => [{ type: 'text', text }];
const rows = { rows: [{ id: 1 }, { id: 2 }] };
const failed = (what: string) => `error -32603: shop__answer failed: ${what}`;
const noMessage = (why: string) => failed(`the answer is no message of MCP: ${why}`);
const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' };

describe('an answer of a server over stdio', () => {
  it.each<[string, JsonObject, string, object?]>([
    ['of text', { result: { content: said('fine') } }, 'fine'],
    [
      'with null for optional fields',
      { result: { content: said('fine'), isError: null, structuredContent: null, _meta: null } },
      'fine',
    ],
    [
      'with null for its content',
      { result: { content: null, structuredContent: { a: 1 } } },
      '{"a":1}',
      { structured: { a: 1 } },
    ],
    ['with a string as its content', { result: { content: 'just text' } }, 'just text'],
    [
      'with one part as its content',
      { result: { content: { type: 'text', text: 'one part' } } },
      'one part',
    ],
    ['with strings as its content', { result: { content: ['one', 'two'] } }, 'one\ntwo'],
    ['with null among its content', { result: { content: [null, ...said('fine')] } }, 'fine'],
    ['with an object as its content', { result: { content: { total: 3 } } }, '{"total":3}'],
    ['without content', { result: {} }, ''],
    ['from before 2024-11-05', { result: { toolResult: 'old answer' } }, 'old answer'],
    ['from before 2024-11-05, with data', { result: { toolResult: { total: 3 } } }, '{"total":3}'],
    ['with an exact number from before 2024-11-05', { result: { toolResult: [1, 2] } }, '[1,2]'],
    [
      'with data that its text does not contain',
      { result: { content: said('2 rows'), structuredContent: rows } },
      '2 rows\n{"rows":[{"id":1},{"id":2}]}',
      { structured: rows },
    ],
    [
      'with data that its text contains',
      { result: { content: said(JSON.stringify(rows, null, 2)), structuredContent: rows } },
      JSON.stringify(rows, null, 2),
      { structured: rows },
    ],
    [
      'with data that wraps its text',
      { result: { content: said('A-1042'), structuredContent: { result: 'A-1042' } } },
      'A-1042',
      { structured: { result: 'A-1042' } },
    ],
    [
      'with a number in another notation than its text',
      { result: { content: said('10 left'), structuredContent: { left: 1 } } },
      '10 left\n{"left":1}',
      { structured: { left: 1 } },
    ],
    [
      'with a list as its data',
      { result: { content: [], structuredContent: [1, 2] } },
      '[1,2]',
      { structured: [1, 2] },
    ],
    [
      'with pictures and files',
      {
        result: {
          content: [
            image,
            { type: 'image' },
            { type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA' } },
            { type: 'resource', resource: { uri: 'file:///b', text: 'b' } },
          ],
        },
      },
      '[image: image/png, 3 bytes]\n[image: unknown, 0 bytes]\n[resource: file:///a, unknown, 3 bytes]\nb',
      { parts: [image, { type: 'resource', resource: { uri: 'file:///a', blob: 'AAAA' } }] },
    ],
    [
      'with a null error next to its result',
      { result: { content: said('fine') }, error: null },
      'fine',
    ],
    [
      'with a result next to its null error',
      { result: null, error: { code: -32000, message: 'broken', data: null } },
      'error -32000: shop__answer failed: broken',
    ],
    [
      'of another version of JSON-RPC',
      { jsonrpc: '1.0', result: { content: said('fine') } },
      'fine',
    ],
    ['with null for its result', { result: null }, noMessage('its result is null')],
    ['with a string as its result', { result: 'done' }, noMessage('its result is a string')],
    ['with a list as its result', { result: [] }, noMessage('its result is a list')],
    [
      'with a string as its error code',
      { error: { code: 'E42', message: 'broken' } },
      failed('broken ("E42")'),
    ],
    ['with a string as its error', { error: 'broken' }, failed('broken')],
    [
      'with an error without a message',
      { error: { code: -32000 } },
      'error -32000: shop__answer failed: an error without a message',
    ],
    [
      'that requires a sign-in in a browser',
      {
        error: {
          code: -32042,
          message: 'Sign in first',
          data: {
            elicitations: [
              {
                mode: 'url',
                elicitationId: 'e1',
                url: 'https://login.example.com/x',
                message: 'Sign in',
              },
            ],
          },
        },
      },
      'error -32042: shop__answer failed: Sign in first; a person opens https://login.example.com/x first, then try again',
    ],
    [
      'that requires a sign-in elsewhere',
      {
        error: {
          code: -32042,
          message: 'Sign in first',
          data: { elicitations: [{ url: 'javascript:alert(1)' }] },
        },
      },
      'error -32042: shop__answer failed: Sign in first',
    ],
  ])('%s', async (_, message, outcome, extras) => {
    const { call, extras: more } = await connected(new PuppetFolder([listed('answer')]), [
      puppetConfig(),
    ]);
    expect(await call('shop__answer', { message })).toBe(outcome);
    const isError = outcome.startsWith('error ');
    expect(more).toEqual(isError ? [] : [extras ?? {}]);
  });

  it("shows the agent's credentials neither in its text nor next to it", async () => {
    const env = { SHOP_TOKEN: 'sesame-open', SHOP_REGION: 'us-east-1' };
    const result = {
      content: [
        ...said('key sesame-open in us-east-1'),
        { ...image, data: Buffer.from('sesame-open').toString('base64') },
      ],
      structuredContent: { key: 'sesame-open', region: 'us-east-1' },
    };
    const { call, extras } = await connected(new PuppetFolder([listed('answer')]), [
      puppetConfig({ env }),
    ]);
    const text = await call('shop__answer', { message: { result } });
    expect(text).toContain('key [redacted:credential] in us-east-1');
    expect(JSON.stringify([text, extras])).not.toMatch(/sesame/);
    expect(extras).toMatchObject([
      { structured: { key: '[redacted:credential]', region: 'us-east-1' } },
    ]);
  });

  it.each([
    [
      'a number that would be rounded',
      '{"jsonrpc":"2.0","id":1,"result":{"toolResult":2512292042121000001}}',
      '2512292042121000001',
    ],
    [
      'a server that writes each field of its initialization',
      '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":null},"serverInfo":{"name":"x","version":null},"instructions":null}}',
      '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":""}}}',
    ],
    [
      'a batch',
      '[{"jsonrpc":"2.0","id":1,"result":null}]',
      '[{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the answer is no message of MCP: its result is null"}}]',
    ],
    [
      'a complete message',
      '{"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}',
      '{"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}',
    ],
    ['invalid JSON', 'starting up', 'starting up'],
  ])('reads %s', (_, text, read) => {
    expect(readableMessage(text)).toContain(read);
  });
});
