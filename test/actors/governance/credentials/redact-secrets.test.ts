import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  redactedCredential,
  redactSecrets,
} from '../../../../src/actors/governance/credentials/credentials.ts';
import { formsOf } from '../../../../src/actors/governance/credentials/redact-secrets.ts';

const secret = 'p/"ss w+rd=\n';

it.each([
  ['plain', secret],
  ['in JSON', JSON.stringify(secret).slice(1, -1)],
  ['in a URL', encodeURIComponent(secret)],
  ['in a URL in small letters', encodeURIComponent(secret).toLowerCase()],
  ['in a form', new URLSearchParams([['', secret]]).toString().slice(1)],
  ['in base64', Buffer.from(secret).toString('base64')],
  ['in base64 without padding', Buffer.from(secret).toString('base64').replace(/=+$/, '')],
  ['in base64url', Buffer.from(secret).toString('base64url')],
])('a secret is replaced %s, each time', (_, form) => {
  expect(redactSecrets(`<${form}> and <${form}>`, [secret])).toBe(
    '<[redacted:credential]> and <[redacted:credential]>',
  );
});

it('overlapping secrets are replaced together', () => {
  expect(redactSecrets('-abcdefghi-abcdef', ['abcdef', 'defghi'])).toBe(
    '-[redacted:credential]-[redacted:credential]',
  );
  expect(redactSecrets('aaaaaaaa', ['aaaaaa'])).toBe('[redacted:credential]');
});

it('a secret that is the whole text is replaced, with another mark where one is given', () => {
  expect(redactSecrets('abcdef', ['abcdef'])).toBe('[redacted:credential]');
  expect(redactSecrets('a abcdef b', ['abcdef'], '***')).toBe('a *** b');
});

it('values shorter than 6 characters and other text stay unchanged', () => {
  expect(redactSecrets('abcde and abcdex', ['abcde', ''])).toBe('abcde and abcdex');
});

it('no part of a base64 secret inside longer text remains', () => {
  const letters = fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789') });
  fc.assert(
    fc.property(
      letters,
      letters,
      fc.constantFrom('base64', 'base64url'),
      (before, after, encoding) => {
        const known = 'Correct-Horse-Battery?~~>>';
        const text = Buffer.from(before + known + after).toString(encoding);
        const [head = '', tail, ...more] = redactSecrets(text, [known]).split(redactedCredential);
        expect(more).toEqual([]);
        expect(tail).toBeTypeOf('string');
        expect(head.length).toBeLessThanOrEqual(Math.ceil((before.length * 8) / 6));
        expect(tail?.length).toBeLessThanOrEqual(Math.ceil((after.length * 8) / 6) + 3);
      },
    ),
  );
});

it('no secret remains in any text, in any of its forms', () => {
  const secrets = fc.array(fc.string({ minLength: 6, unit: 'binary' }), { minLength: 1 });
  fc.assert(
    fc.property(secrets, fc.array(fc.nat()), fc.string(), (values, picks, filler) => {
      const forms = values.flatMap(formsOf);
      fc.pre(forms.every((form) => !redactedCredential.includes(form)));
      const text = picks.map((pick) => forms[pick % forms.length]).join(filler);
      const left = redactSecrets(text, values).split(redactedCredential);
      expect(forms.filter((form) => left.some((part) => part.includes(form)))).toEqual([]);
    }),
  );
});
