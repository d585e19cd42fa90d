import { expect, it } from 'vitest';
import { certainArguments } from '../../../../src/actors/tasks/models/certain-arguments.ts';

const once = '{"to":"a } \\" {","amount":5}';

it.each([
  ['a repeated object', `${once}${once}`, once],
  ['a repeated object on two lines', `${once}\n${once}\n`, once],
  ['an empty object before the arguments', `{}${once}`, once],
  ['a repeated empty object', '{}{}', '{}'],
  ['the content of a JSON string', JSON.stringify(once), once],
  ['two different objects', '{"amount":5}{"amount":6}', null],
  ['two objects that become equal by parsing', '{"amount":1.0000000000000001}{"amount":1}', null],
  ['two objects, one with a repeated key', '{"amount":1,"amount":5}{"amount":5}', null],
  ['an unfinished object', '{"amount":5', null],
  ['an object and half of it', '{"amount":5}{"amou', null],
  ['an object after words', 'Sure: {"amount":5}', null],
  ['an object in a code fence', '```json\n{"amount":5}\n```', null],
  ['the literals of Python', "{'amount': True}", null],
  ['a list', '[{"amount":5}]', null],
  ['a string', '"five"', null],
  ['a string that contains a list', '"[1]"', null],
  ['nothing', '', null],
])('of arguments that are %s', (_, written, meant) => {
  expect(certainArguments(written)).toBe(meant);
});
