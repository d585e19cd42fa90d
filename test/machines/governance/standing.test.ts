import { expect, it } from 'vitest';
import { fulfils, normaliseEntry, readEntry } from '../../../src/machines/governance/standing.ts';

it.each([
  ['group:finance', { kind: 'group', name: 'finance' }, 'group:finance'],
  [' oncall: ops ', { kind: 'oncall', name: 'ops' }, 'oncall:ops'],
  ['claim:roles=a=b', { kind: 'claim', name: 'roles', value: 'a=b' }, 'claim:roles=a=b'],
  ['claim: role = legal', { kind: 'claim', name: 'role', value: 'legal' }, 'claim:role=legal'],
  ['group:', null, null],
  ['claim:role', null, null],
  ['claim:=x', null, null],
  ['claim:role=', null, null],
  ['Group:finance', null, null],
  ['team:finance', null, null],
  ['Ann@Example.com', null, 'ann@example.com'],
])('the standing of a call: %j', (entry, read, normal) => {
  expect([readEntry(entry), normaliseEntry(entry)]).toEqual([read, normal]);
});

it.each([
  ['ann@example.com', { email: 'Ann@example.com', as: [] }, true],
  ['ann@example.com', { email: null, as: ['ann@example.com'] }, false],
  ['group:a', { email: null, as: ['group:a'] }, true],
  ['group:a', { email: 'ann@example.com', as: ['group:b'] }, false],
  ['nonsense', { email: null, as: ['nonsense'] }, false],
])('the standing %j is met by %j: %s', (entry, person, expected) => {
  expect(fulfils(person, entry)).toBe(expected);
});
