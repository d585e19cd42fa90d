import { describe, expect, it } from 'vitest';
import { guardrailsOf } from './some-rules.ts';

function shown(name: string, text: string): string {
  const checked = guardrailsOf({ redact: [name] }).checkOutput(text);
  return 'text' in checked ? checked.text : checked.denial;
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const header = encoded({ alg: 'none', typ: 'JWT' });
const claims = encoded({ sub: 'ann@example.com' });
const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** A private key in the armour of a name. */
const armoured = (name: string) => `-----BEGIN ${name}-----\nMIIE+/=\n-----END ${name}-----`;

describe('a secret', () => {
  it.each<[string, string, string]>([
    ['private_key', 'of PKCS 8', armoured('PRIVATE KEY')],
    ['private_key', 'of OpenSSH', armoured('OPENSSH PRIVATE KEY')],
    ['private_key', 'of PGP', armoured('PGP PRIVATE KEY BLOCK')],
    ['api_key', 'with one digit', `sk-${letters.slice(0, 19)}1`],
    ['api_key', 'with one letter behind its sk', `sk-${'1'.repeat(19)}a`],
    ['stripe_key', 'for tests', `rk_test_${letters.slice(0, 16)}`],
    ['aws_access_key_id', 'that is temporary', 'ASIAY34FZKBOKMUTVV7A'],
    ['aws_secret_access_key', 'in JSON', `awsSecretKey": "${letters.slice(0, 40)}`],
    ['github_token', 'of an app', `ghs_${letters.slice(0, 36)}`],
    ['gitlab_token', 'of a person', `glpat-${letters.slice(0, 20)}`],
    ['slack_token', 'with one digit', 'xoxp-abcdefghi1'],
    ['slack_token', 'of an app', 'xapp-1-abcdefghij'],
    ['slack_webhook', 'of a workflow', `https://hooks.slack.com/workflows/T0/${letters}`],
    ['google_api_key', 'of a project', `AIza${letters.slice(0, 35)}`],
    ['npm_token', 'of a person', `npm_${letters.slice(0, 36)}`],
    ['jwt', 'with a signature', `${header}.${claims}.c2ln`],
    ['jwt', 'without a signature', `${header}.${claims}.`],
    ['jwt', 'that is encrypted', `${encoded({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`],
    [
      'jwt',
      'that says nothing of its algorithm',
      `${encoded({ typ: 'JWT', alg: null })}.${claims}.a`,
    ],
    ['bearer_token', 'with one digit', `BEARER ${letters.slice(0, 15)}1`],
    ['bearer_token', 'without digits that is long', `bearer ${letters.slice(0, 33)}`],
  ])('is hidden: %s %s', (name, _, secret) => {
    expect(shown(name, `Use ${secret} now`)).toBe(`Use [redacted:${name}] now`);
  });

  it.each<[string, string, string]>([
    ['private_key', 'a public key', armoured('PUBLIC KEY')],
    ['api_key', 'words parted by hyphens', `sk-${letters.slice(0, 30)}`],
    ['api_key', 'a number', `sk-${'1'.repeat(20)}`],
    ['api_key', 'one character too few', `sk-${letters.slice(0, 18)}1`],
    ['api_key', 'the end of a word', `risk-${letters.slice(0, 19)}1`],
    ['stripe_key', 'a publishable key', `pk_live_${letters.slice(0, 16)}`],
    ['aws_access_key_id', 'a longer word', 'AKIAIOSFODNN7EXAMPLES'],
    ['github_token', 'one character too few', `ghp_${letters.slice(0, 35)}`],
    ['slack_token', 'words', 'xoxb-something-else'],
    ['npm_token', 'a longer word', `npm_${letters.slice(0, 37)}`],
    ['jwt', 'an object without an algorithm', `${encoded({ typ: 'JWT' })}.${claims}.a`],
    [
      'jwt',
      'JSON that is no object',
      `eyJhbGciOiJI.${encoded(null)}.${encoded('alg')}.${encoded(1)}`,
    ],
    ['jwt', 'a list with an algorithm in it', `eyJhbGciOiJI.${encoded(['alg'])}.a`],
    ['jwt', 'parts that are no JSON', 'eyJhbGciOiJI.notatoken.x'],
    ['bearer_token', 'words', `bearer ${letters.slice(0, 32)}`],
    ['bearer_token', 'one character too few', 'bearer abcdefghijklmn1'],
  ])('is not found: %s in %s', (name, _, text) => {
    expect(shown(name, `Use ${text} now`)).toBe(`Use ${text} now`);
  });

  it('is hidden to the end of the text where a private key has no end', () => {
    const text = `Here: ${armoured('EC PRIVATE KEY').slice(0, -8)} and all that follows`;
    expect(shown('private_key', text)).toBe('Here: [redacted:private_key]');
  });
});
