import { expect, it } from 'vitest';
import { isTrustworthyUrl } from '../../src/machines/trustworthy-url.ts';

it.each([
  'https://issuer.example',
  'https://issuer.example/tenant/',
  'http://localhost:8080',
  'http://127.0.0.1/keys',
  'http://[::1]:9',
])('%s is trusted to receive credentials', (text) => {
  expect(isTrustworthyUrl(text)).toBe(true);
});

it.each([
  '',
  'issuer.example',
  'http://issuer.example',
  'http://127.0.0.1.issuer.example',
  'ftp://localhost',
  'ws://localhost',
  'https://ann@issuer.example',
  'https://:secret@issuer.example',
  'https://issuer.example/?a=1',
  'https://issuer.example/?',
  'https://issuer.example/#a',
  'https://issuer.example/#',
])('%j is not trusted', (text) => {
  expect(isTrustworthyUrl(text)).toBe(false);
});
