import { expect, it } from 'vitest';
import { refusedSecretName } from '../../src/machines/secret-name.ts';

it.each([
  'SHOP_KEY',
  'a',
  '_x1',
  'SERVICE_TOKEN',
  'SERVICE_PLATFORM_TOKEN',
  'SERVICE_AUDIT_SIGNING_KEY',
  'A'.repeat(128),
])('a secret may be named %s', (name) => {
  expect(refusedSecretName(name)).toBeNull();
});

it.each(['', '1A', 'A-B', 'KEY=canary', 'A B', '__proto__', 'Ä', 'A'.repeat(129), 'A\n'])(
  'refuses the name %j and does not repeat it',
  (name) => {
    expect(refusedSecretName(name)).toBe(
      'the name of a secret is one to 128 letters, digits and underscores and does not begin with a digit, such as SHOP_KEY',
    );
  },
);

it.each([
  'PATH',
  'NODE_OPTIONS',
  'LD_PRELOAD',
  'SERVICE_PASSPHRASE',
  'SERVICE_COMMAND',
  'HTTPS_PROXY',
])('refuses %s, which controls programs', (name) => {
  expect(refusedSecretName(name)).toBe(
    'this name affects how programs run, so a secret cannot have it; use another, such as SHOP_KEY',
  );
});
