import { expect, it } from 'vitest';
import { nearestName } from '../../src/actors/nearest-name.ts';

it.each([
  ['mpc', 'mcp'],
  ['pcm', null],
  ['prot', 'port'],
  ['hots', 'host'],
  ['portt', 'port'],
  ['x', null],
  ['mc', 'mcp'],
])('the nearest name to %s is %s', (written, meant) => {
  expect(nearestName(written, ['host', 'port', 'mcp', 'write_timeout'])).toBe(meant);
});
