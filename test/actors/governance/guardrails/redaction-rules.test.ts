import { describe, expect, it } from 'vitest';
import {
  isRedactionName,
  redactionNames,
  redactionRules,
} from '../../../../src/actors/governance/guardrails/guardrails.ts';
import { guardrailsOf } from './some-rules.ts';

function shown(name: string, text: string): string {
  const checked = guardrailsOf({ redact: [name] }).checkOutput(text);
  return 'text' in checked ? checked.text : checked.denial;
}

const header = Buffer.from('{"alg":"RS256","typ":"JWT"}').toString('base64url');
const jwt = `${header}.${Buffer.from('{"sub":"ann"}').toString('base64url')}.c2lnbmF0dXJl`;
const block = (end: string) => `-----BEGIN RSA PRIVATE KEY-----\nMIIE\n${end}`;
const letters = 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0dF2hJ4';

describe('a redaction rule', () => {
  it.each<[string, string]>([
    ['private_key', block('-----END RSA PRIVATE KEY-----')],
    ['private_key', block('and no end')],
    ['api_key', 'sk-proj-abcd1234efgh5678ijkl'],
    ['stripe_key', `sk_live_${letters.slice(0, 24)}`],
    ['aws_access_key_id', 'AKIAIOSFODNN7EXAMPLE'],
    [
      'aws_secret_access_key',
      `aws_secret_access_key = ${'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'}`,
    ],
    ['github_token', `ghp_${letters}`],
    ['github_token', `github_pat_${letters}${letters}`],
    ['gitlab_token', `glpat-${letters.slice(0, 20)}`],
    ['slack_token', 'xoxb-123456789012-abcdefghij'],
    ['slack_webhook', 'https://hooks.slack.com/services/T00000000/B00000000/abcdefgh'],
    ['google_api_key', `AIza${letters.slice(0, 35)}`],
    ['npm_token', `npm_${letters}`],
    ['jwt', jwt],
    ['jwt', `eyJhYWFhYWFh.a.${jwt}`],
    ['bearer_token', 'Bearer abcdef1234567890'],
    ['email', 'ann.o-neil+x@mail.example.co.uk'],
    ['email', 'jürgen@müller.example'],
    ['phone', '+1 (555) 010-9999'],
    ['phone', '+44 20 7946 0958'],
    ['phone', '+4915112345678'],
    ['phone', '555-010-9999'],
    ['phone', '(555) 010-9999'],
    ['credit_card', '4111 1111 1111 1111'],
    ['credit_card', '5500-0000-0000-0004'],
    ['credit_card', '378282246310005'],
    ['iban', 'DE89 3704 0044 0532 0130 00'],
    ['iban', 'gb82WEST12345698765432'],
    ['us_ssn', '123-45-6789'],
    ['us_ssn', '123 45 6789'],
    ['ip_address', '192.0.2.255'],
    ['ip_address', '2001:db8::1'],
    ['ip_address', '::ffff:10.0.0.1'],
  ])('%s hides %s', (name, secret) => {
    const tail = name === 'private_key' && !secret.includes('END') ? '' : ', end';
    expect(shown(name, `It is: ${secret}${tail}`)).toBe(`It is: [redacted:${name}]${tail}`);
    const group = redactionRules(['pii']).some((rule) => rule.name === name) ? 'pii' : 'secrets';
    expect(shown(group, `It is: ${secret}${tail}`)).not.toContain(secret);
  });

  it.each<[string, string]>([
    [
      'secrets',
      'sk-learn-extra-documentation-build is a package; a risk-based-task-list-of-2026-items',
    ],
    ['secrets', '-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----'],
    ['secrets', 'the bearer authentication-required page; AKIA is a prefix; xoxb-something-else'],
    ['secrets', 'eyJhYWFhYWFhYWFh.notatoken.x and eyJ.eyJ.eyJ'],
    ['secrets', 'commit 3f786850e387550fdab836ed7e6dc881de23001b'],
    ['pii', 'logo@2x.png, npm i left-pad@1.3.0, @scope/name, a @ b.c'],
    [
      'pii',
      'at 12:34:56 on 2026-11-21T10:00:00+01:00, call std::vector, a::b, version 1.2.3 or v1.2.3.4',
    ],
    ['pii', 'order 4111111111111112, id 1234567890123456, 0.4111111111111111, sum 1,000,000'],
    ['pii', 'DE89370400440532013001, AB12 3456 7890, GB82WEST123456987654321'],
    ['pii', '000-12-3456, 666-12-3456, 900-12-3456, 123-00-4567, 123-45-0000, 2123-45-67890'],
    ['pii', '256.1.1.1, 1.2.3, 1.2.3.4.5, 10:20, ::, part 123-456-7890-1234, 20250101-1200'],
    ['pii', '550e8400-e29b-41d4-a716-446655440000, 1732186800000, 3.14159265358979'],
  ])('of %s does not hide: %s', (name, text) => {
    expect(shown(name, text)).toBe(text);
  });

  it.each<[string, string, string]>([
    ['credit_card', '4111 1111 1111 1111 2026 123', '[redacted:credit_card] 2026 123'],
    ['credit_card', '12 4111-1111-1111-1111', '12 [redacted:credit_card]'],
    ['iban', 'AB12 DE89370400440532013000.', 'AB12 [redacted:iban].'],
    [
      'ip_address',
      'host:10.0.0.1:80, addr:fe80::1: x',
      'host:[redacted:ip_address]:80, addr:[redacted:ip_address]: x',
    ],
    ['phone', '+1 555 010 9999 8765 4321 0000', '[redacted:phone]'],
    ['email', 'a@b.io,c@d.io', '[redacted:email],[redacted:email]'],
  ])('%s finds its match among neighbours: %s', (name, text, redacted) => {
    expect(shown(name, text)).toBe(redacted);
  });

  it('has a known name, as have the groups', () => {
    expect(redactionNames.every(isRedactionName)).toBe(true);
    expect(redactionNames.slice(-2)).toEqual(['secrets', 'pii']);
    expect(['', 'Email', 'toString', '__proto__'].some(isRedactionName)).toBe(false);
    expect(redactionRules(['email', 'pii', 'email']).map(({ name }) => name)).toEqual([
      'email',
      'phone',
      'credit_card',
      'iban',
      'us_ssn',
      'ip_address',
    ]);
  });
});

describe('the redaction rules of a name', () => {
  it.each(['', 'emial', 'toString', '__proto__'])(
    'are an error for an unknown name: %j',
    (name) => {
      expect(() => redactionRules(['email', name])).toThrow(
        new RangeError('a redaction rule has an unknown name'),
      );
    },
  );

  it('are empty without names', () => {
    expect(redactionRules([])).toEqual([]);
  });
});
