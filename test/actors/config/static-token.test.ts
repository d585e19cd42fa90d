import { expect, it } from 'vitest';
import { resolveStaticToken } from '../../../src/actors/config/config.ts';

it('takes the token from the variable that token_env names', () => {
  expect(resolveStaticToken({ token_env: 'TOKEN' }, { TOKEN: 's3cret' })).toBe('s3cret');
});

it('takes the token that is written', () => {
  expect(resolveStaticToken({ token: 's3cret' }, {})).toBe('s3cret');
});

it('names the variable that is not set', () => {
  expect(() => resolveStaticToken({ token_env: 'constructor' }, {})).toThrow(
    new Error('the environment variable constructor is not set; it must hold the token'),
  );
});
