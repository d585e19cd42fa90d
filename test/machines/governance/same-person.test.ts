import { describe, expect, it } from 'vitest';
import {
  isSameName,
  isSamePerson,
  type PersonKey,
} from '../../../src/machines/governance/same-person.ts';

const rita: PersonKey = { provider: 'sso', userId: 'rita', email: 'rita@example.com' };
const nameless: PersonKey = { provider: 'sso', userId: 'rita' };

describe('two callers', () => {
  it.each<[string, boolean, PersonKey | null, PersonKey | null]>([
    ['one id of one provider', true, rita, nameless],
    ['one id under two emails', true, rita, { ...rita, email: 'r.smith@example.com' }],
    ['one email under two ids', true, rita, { ...rita, userId: '7', email: ' RITA@example.com' }],
    ['one email from two providers', true, rita, { ...rita, provider: 'chat' }],
    ['two ids and two emails', false, rita, { provider: 'sso', userId: 'ann', email: 'a@b.cd' }],
    ['one id of two providers', false, nameless, { ...nameless, provider: 'chat' }],
    ['two ids without an email', false, nameless, { ...nameless, userId: 'ann' }],
    [
      'two ids with empty emails',
      false,
      { ...rita, email: '' },
      { ...rita, userId: '7', email: '' },
    ],
    ['somebody and nobody', false, rita, null],
    ['nobody twice', false, null, null],
  ])('with %s are one person: %s, in either order', (_, expected, one, other) => {
    expect([isSamePerson(one, other), isSamePerson(other, one)]).toEqual([expected, expected]);
  });
});

describe('two names', () => {
  it.each<[string | null | undefined, string | null | undefined, boolean]>([
    ['Ann', 'ann', true],
    [' Ann\t', '\u00A0ann\n', true],
    ['Ann Smith', 'Ann  Smith', false],
    ['ann', 'anna', false],
    ['ann@example.com', ' ANN@Example.com ', true],
    ['ann@example.com', 'bob@example.com', false],
    // No email, and yet too similar to one to decide next to it.
    ['\u212Aate@example.com', 'kate@example.com', true],
    ['', '', false],
    [' ', '\t', false],
    [null, undefined, false],
    [null, 'ann', false],
    [undefined, '', false],
  ])('%j and %j are equal: %s, in either order', (one, other, expected) => {
    expect([isSameName(one, other), isSameName(other, one)]).toEqual([expected, expected]);
  });
});
