import { expect, it } from 'vitest';
import { isEmailShaped } from '../../../src/machines/governance/email.ts';

it.each(['ann@example.com', ' Ann@Example.COM ', 'a.b+c@mail.example.co'])('takes %j', (text) => {
  expect(isEmailShaped(text)).toBe(true);
});

it.each([
  '',
  ' ',
  'ann',
  '@example.com',
  'ann@',
  'ann@example',
  'ann@.com',
  'ann@example.',
  'ann@example..com',
  'ann@@example.com',
  'ann smith@example.com',
  'ann@exa mple.com',
])('refuses %j', (text) => {
  expect(isEmailShaped(text)).toBe(false);
});
