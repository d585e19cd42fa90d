import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

it('the card section accepts the schemes of the standard', () => {
  const text =
    'agent_id: x\ncard: {security_schemes: {a: {type: mutualTLS}, b: {type: http, scheme: basic}}}';
  expect(linesOf(read(text))).toEqual([]);
});

it.each(['{}', '{type: morse}', 'bearer'])(
  'the card section warns of a scheme that is %s',
  (scheme) => {
    expect(linesOf(read(`agent_id: x\ncard: {security_schemes: {a: ${scheme}}}`))).toEqual([
      'warning 2:30 card.security_schemes.a | a is not a known scheme; set its type to one of apiKey, http, oauth2, openIdConnect, mutualTLS',
    ]);
  },
);
