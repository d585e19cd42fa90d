import { expect, it } from 'vitest';
import { formsOf } from '../../../../src/actors/governance/credentials/redact-secrets.ts';

it('a secret is searched in every form that carries it', () => {
  expect([...new Set(formsOf('a "b/~'))]).toEqual([
    'a "b/~',
    'a \\"b/~',
    'a%20%22b%2F~',
    'a%20%22b%2f~',
    'a+%22b%2F%7E',
    'a+%22b%2f%7e',
    'a+%22b%2F~',
    'a+%22b%2f~',
    'YSAiYi9+',
    'YSAiYi9-',
    'EgImIvf',
    'hICJiL3',
  ]);
});

it.each([
  ['passwords', 'cGFzc3dvcmRz', ['cGFzc3dvcmRz', 'Bhc3N3b3Jkc', 'wYXNzd29yZH']],
  ['password', 'cGFzc3dvcmQ=', ['cGFzc3dvcm', 'Bhc3N3b3Jk', 'wYXNzd29yZ']],
  ['passwor', 'cGFzc3dvcg==', ['cGFzc3dvc', 'Bhc3N3b3', 'wYXNzd29y']],
])('base64 characters that neighbours affect are not searched for %s', (secret, padded, inside) => {
  const bare = padded.replace(/=+$/, '');
  expect(formsOf(secret).slice(-10)).toEqual(
    [padded, bare, ...inside].flatMap((form) => [form, form]),
  );
});

it('a malformed secret is searched as a URL encodes it', () => {
  expect(formsOf('se\ud800cret')).toContain('se%EF%BF%BDcret');
});
