import { expect, it } from 'vitest';
import { isGreeting, shortGreeting } from '../../../src/http/mcp/mcp-greeting.ts';
import { collectGarbage } from '../../helpers/collect-garbage.ts';

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

it('keeps nothing of a long name but its beginning', () => {
  const body = JSON.stringify(greeting({ name: 'n'.repeat(1_900_000), version: '1' }));
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  const kept = Array.from({ length: 540 }, () => shortGreeting(JSON.parse(body) as object));
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1024 * 1024);
  expect(kept.length).toBe(540);
});
