import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

function authenticating(providers: string, env: Record<string, string> = {}): string[] {
  return linesOf(read(`agent_id: x\nauth:\n  providers: [${providers}]\n`, env));
}

it.each([
  [
    'neither token nor token_env',
    '{type: static_token}',
    'error 3:15 auth.providers.0.settings.token_env | a static token needs token_env or token; add one',
  ],
  [
    'empty settings',
    '{type: static_token, settings: {}}',
    'error 3:46 auth.providers.0.settings.token_env | a static token needs token_env or token; add one',
  ],
  [
    'an empty token',
    '{type: static_token, settings: {token: ""}}',
    'error 3:54 auth.providers.0.settings.token | the token is empty; write one, or use token_env',
  ],
  [
    'both',
    '{type: static_token, settings: {token: a, token_env: SET}}',
    'error 3:54 auth.providers.0.settings.token | token and token_env are both set; keep one',
  ],
  [
    'a variable that is not set',
    '{type: static_token, settings: {token_env: UNSET}}',
    'error 3:58 auth.providers.0.settings.token_env | the environment variable UNSET is not set; it must hold the token',
  ],
  [
    'a variable that is empty',
    '{type: static_token, settings: {token_env: EMPTY}}',
    'error 3:58 auth.providers.0.settings.token_env | the environment variable EMPTY is not set; it must hold the token',
  ],
  [
    'a name taken',
    '{type: static_token, name: a, settings: {token: x}}, {type: static_token, name: a, settings: {token: y}}',
    'error 3:95 auth.providers.1.name | an earlier provider has this name; give each provider a name of its own',
  ],
  [
    'two providers without a name',
    '{type: static_token, settings: {token: x}}, {type: static_token, settings: {token: y}}',
    'error 3:59 auth.providers.1.name | an earlier provider has this name; give each provider a name of its own',
  ],
])('refuses %s', (_, providers, line) => {
  expect(authenticating(providers, { SET: 's3cret', EMPTY: '' })).toEqual([line]);
});

it('accepts a token from the environment and one that is written', () => {
  const providers =
    '{type: static_token, settings: {token_env: SET}}, {type: static_token, name: b, settings: {token: "${SET}"}}';
  expect(authenticating(providers, { SET: 's3cret' })).toEqual([]);
});
