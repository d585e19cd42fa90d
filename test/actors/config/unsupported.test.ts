import { expect, it } from 'vitest';
import { unsupportedControls } from '../../../src/actors/config/config.ts';
import { linesOf, read } from './reading.ts';

it.each([['secrets: {}', 'warning 2:10 secrets', 'the store of secrets', 'remove it']])(
  'tells that this version cannot do %s',
  (text, place, thing, remedy) => {
    expect(linesOf(read(`agent_id: x\n${text}`))).toEqual([
      `${place} | ${thing} is not available in this version; ${remedy}`,
    ]);
  },
);

it('finds nothing in the defaults', () => {
  const reading = read('agent_id: x');
  expect(reading.ok && unsupportedControls(reading.config)).toEqual([]);
});
