import { expect, it } from 'vitest';
import { resolveStaticToken } from '../../../src/actors/config/config.ts';

it('a static token may come from the variable that token_env names', () => {
  expect(resolveStaticToken({ token_env: 'TOKEN' }, { TOKEN: 's3cret' })).toBe('s3cret');
});

it('a static token may be in the file', () => {
  expect(resolveStaticToken({ token: 's3cret' }, {})).toBe('s3cret');
});

it('a missing token variable is named', () => {
  expect(() => resolveStaticToken({ token_env: 'constructor' }, {})).toThrow(
    new Error('the environment variable constructor is not set; it must hold the token'),
  );
});
