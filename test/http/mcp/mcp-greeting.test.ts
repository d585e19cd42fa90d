import { expect, it } from 'vitest';
import { isGreeting, shortGreeting } from '../../../src/http/mcp/mcp-greeting.ts';

const greeting = (clientInfo: unknown) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    protocolVersion: '2025-06-18',
    capabilities: { experimental: { note: { text: 'x'.repeat(100_000) } } },
    clientInfo,
    _meta: { note: 'x' },
  },
});

it('keeps of a client no more than its name and its version, cut', () => {
  const icons = [{ src: `data:image/png;base64,${'A'.repeat(100_000)}` }];
  expect(shortGreeting(greeting({ name: 'n'.repeat(500), version: '1', icons }))).toEqual({
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'n'.repeat(100), version: '1' },
    },
  });
});

it.each([undefined, 'me', {}, { name: 7, version: '1' }])(
  'leaves a greeting to be refused as it is (%j)',
  (clientInfo) => {
    const sent = greeting(clientInfo);
    expect(shortGreeting(sent)).toBe(sent);
  },
);

it('knows a greeting from anything else', () => {
  expect(
    [{ method: 'initialize' }, { method: 'tools/list' }, null, 'initialize'].map(isGreeting),
  ).toEqual([true, false, false, false]);
});
