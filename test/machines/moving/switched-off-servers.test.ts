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
])('a server with %s: %j is left out: %s', (key, value, isOff) => {
  const root = { mcpServers: { shop: { command: 'shop', [key]: value } } };
  const move = { workspace: '/desk', home: '/home', isSet: () => false, without: [] };
  expect(moveServers(root, move)?.servers).toHaveLength(isOff ? 0 : 1);
});
