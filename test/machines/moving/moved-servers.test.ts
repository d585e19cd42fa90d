import { expect, it } from 'vitest';
import type { JsonValue } from '../../../src/machines/json.ts';
import { moveServers } from '../../../src/machines/moving/move-servers.ts';

it.each<[string, JsonValue, boolean]>([
  ['disabled', true, true],
  ['disabled', 'true', true],
  ['disabled', 1, true],
  ['disabled', ['for now'], true],
  ['disabled', false, false],
  ['disabled', 'False', false],
  ['disabled', null, false],
  ['enabled', false, true],
  ['enabled', 'false', true],
  ['enabled', 0, true],
  ['enabled', true, false],
  ['enabled', 'yes', false],
  ['enabled', null, false],
])('a server with %s: %j is omitted: %s', (key, value, isOff) => {
  const root = { mcpServers: { shop: { command: 'shop', [key]: value } } };
  const move = { workspace: '/desk', home: '/home', isSet: () => false, without: [] };
  expect(moveServers(root, move)?.servers).toHaveLength(isOff ? 0 : 1);
});

it('names the variables of the operator that a server would receive', () => {
  const shop = {
    url: 'https://shop.example.com/${REGION}/mcp',
    headers: { 'X-Key': '${env:CLOUD_KEY}', 'X-Mode': '${MODE:-fast}' },
    bearer_token_env_var: 'CLOUD_KEY',
  };
  const set = ['CLOUD_KEY', 'REGION'];
  const move = { workspace: '/desk', home: '/home', isSet: (name: string) => set.includes(name) };
  const { keys = [] } = moveServers({ mcpServers: { shop } }, { ...move, without: [] }) ?? {};
  expect(keys[0]).toEqual({
    key: 'mcpServers.shop',
    outcome: 'renamed',
    to: 'mcp.servers (shop)',
    why: 'it receives REGION, CLOUD_KEY from your environment',
  });
});
