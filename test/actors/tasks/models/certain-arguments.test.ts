import { expect, it } from 'vitest';
import { certainArguments } from '../../../../src/actors/tasks/models/certain-arguments.ts';

const once = '{"to":"a } \\" {","amount":5}';

it.each([
  ['a whole object twice', `${once}${once}`, once],
  ['a whole object twice, on two lines', `${once}\n${once}\n`, once],
  ['an empty object before it', `{}${once}`, once],
  ['an empty object twice', '{}{}', '{}'],
  ['the text of a JSON string', JSON.stringify(once), once],
  ['two objects that differ', '{"amount":5}{"amount":6}', null],
  ['two objects that reading makes equal', '{"amount":1.0000000000000001}{"amount":1}', null],
  ['two objects, one with a key twice', '{"amount":1,"amount":5}{"amount":5}', null],
  ['an object that breaks off', '{"amount":5', null],
  ['an object and half of it', '{"amount":5}{"amou', null],
  ['an object behind words', 'Sure: {"amount":5}', null],
  ['an object in a fence', '```json\n{"amount":5}\n```', null],
  ['the literals of Python', "{'amount': True}", null],
  ['a list', '[{"amount":5}]', null],
  ['a string', '"five"', null],
  ['a string with a list', '"[1]"', null],
  ['nothing', '', null],
])('of arguments that are %s', (_, written, meant) => {
  expect(certainArguments(written)).toBe(meant);
});
