import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isEmailShaped, normaliseEmail } from '../../../src/machines/governance/email.ts';

const longest = `${'a'.repeat(242)}@example.com`;

describe('an email', () => {
  it.each([
    ['ann@example.com', 'ann@example.com'],
    [' Ann@Example.COM ', 'ann@example.com'],
    ['\tann@example.com\r\n', 'ann@example.com'],
    ['a.b+c@mail.example.co', 'a.b+c@mail.example.co'],
    ["o'neil!#$%&*/=?^`{|}~-@x-y.example", "o'neil!#$%&*/=?^`{|}~-@x-y.example"],
    [longest, longest],
  ])('%j is compared as %j', (text, normal) => {
    expect(normaliseEmail(text)).toBe(normal);
    expect(isEmailShaped(text)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['a blank', ' '],
    ['a name', 'ann'],
    ['no name', '@example.com'],
    ['no domain', 'ann@'],
    ['a domain without a dot', 'ann@example'],
    ['a domain that begins with a dot', 'ann@.com'],
    ['a domain that ends with a dot', 'ann@example.com.'],
    ['two dots', 'ann@example..com'],
    ['two signs', 'ann@@example.com'],
    ['two emails', 'ann@example.com,bob@example.com'],
    ['two emails with a blank', 'ann@example.com bob@example.com'],
    ['a blank in the name', 'ann smith@example.com'],
    ['a blank in the domain', 'ann@exa mple.com'],
    ['a Kelvin sign', '\u212Aate@example.com'],
    ['a long s', '\u017Fam@example.com'],
    ['a dotted capital I', '\u0130an@example.com'],
    ['a Cyrillic a', '\u0430nn@example.com'],
    ['a Cyrillic domain', 'ann@ex\u0430mple.com'],
    ['full width', '\uFF41nn@example.com'],
    ['a full-width sign', 'ann\uFF20example.com'],
    ['an ideographic dot', 'ann@example\u3002com'],
    ['no width', 'ann\u200B@example.com'],
    ['no width before it', '\uFEFFann@example.com'],
    ['no width behind it', 'ann@example.com\u2060'],
    ['a no-break blank behind it', 'ann@example.com\u00A0'],
    ['another direction', '\u202Eann@example.com'],
    ['a control character', 'ann\u0000@example.com'],
    ['a composed letter', 'a\u0301nn@example.com'],
    ['too many characters', `a${longest}`],
  ])('is invalid with %s', (_, text) => {
    expect(normaliseEmail(text)).toBeNull();
    expect(isEmailShaped(text)).toBe(false);
  });

  it('equals another one only if they differ in ASCII case or surrounding blanks', () => {
    const name = fc.string({ unit: fc.constantFrom(...'abkKsSi.-+'), minLength: 1, maxLength: 8 });
    const like = fc.constantFrom(
      'k',
      'K',
      '\u212A',
      's',
      '\u017F',
      'i',
      '\u0130',
      '\u0131',
      '\u200B',
    );
    const email = name.map((local) => `${local}@example.com`);
    const other = fc.tuple(name, like, fc.nat(8)).map(([local, look, at]) => {
      return `${local.slice(0, at)}${look}${local.slice(at + 1)}@example.com`;
    });
    const folded = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
    fc.assert(
      fc.property(email, other, (one, two) => {
        const isSame = normaliseEmail(one) !== null && normaliseEmail(one) === normaliseEmail(two);
        expect(isSame).toBe(folded(one) === folded(two));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is printable ASCII without capital letters after normalization', () => {
    const text = fc.string({ unit: 'binary', maxLength: 12 });
    fc.assert(
      fc.property(text, text, (local, domain) => {
        const normal = normaliseEmail(`${local}@${domain}.example`);
        if (normal === null) return;
        expect(normal).toMatch(/^[\x21-\x40\x5b-\x7e]+$/);
        expect(normaliseEmail(normal)).toBe(normal);
      }),
      { numRuns: 1_000 },
    );
  });
});
