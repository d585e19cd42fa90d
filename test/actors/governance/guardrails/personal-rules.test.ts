import { describe, expect, it } from 'vitest';
import { guardrailsOf } from './some-rules.ts';

function shown(name: string, text: string): string {
  const checked = guardrailsOf({ redact: [name] }).checkOutput(text);
  return 'text' in checked ? checked.text : checked.denial;
}

const longest6 = '0000:0000:0000:0000:0000:ffff:255.255.255.255';

/** The hidden part is in brackets. */
const hides: [string, string[]][] = [
  [
    'email',
    [
      'to [ann@2x.png.example.com] now',
      'to [ann@x.png] now',
      'to [ann@2xy.png], [ann@22x.png]',
      'ann@2x.png, @2x.png, a@3x.jpg, a@3x.jpeg, a@2x.gif, a@2x.webp, a@2x.svg, A@2X.AVIF',
    ],
  ],
  [
    'phone',
    [
      '[+12 345 678] has eight digits, +12 34 567 seven',
      'call [+49 151 1234567] now',
      'call [+49 151 1234567]x, x+49 151 1234567, 5+49 151 1234567',
      '1-+49 151 1234567, 1.+49 151 1234567, -[+49 151 1234567], x.[+49 151 1234567]',
      'call [555-010-9999] now, [555-010-9999]. Or [555-010-9999]- yes',
      '555-010-9999x, 555-010-9999-1, 555-010-9999.5, [555-010-9999]-x',
      'x555-010-9999, 3-555-010-9999, 3.555-010-9999, 33-555-010-9999, -[555-010-9999], a.[555-010-9999]',
      '[1-555-010-9999], [1 (555) 010-9999], 155-010-9999',
      '[555-010-9999]',
    ],
  ],
  [
    'credit_card',
    [
      'pay [4111111111111111] now',
      'a sum of 0.4111111111111111, x.[4111111111111111], . [4111111111111111]',
      'a sum of 0.1 [4111 1111 1111 1111]',
      '4111111111111111.5, [4111111111111111]. 5, [4111111111111111].x',
      'a sum of [4111 1111 1111 1111] 5.5',
      '[4111111111111111] [5555555555554444]',
      '[4111111111111111]',
    ],
  ],
  [
    'iban',
    [
      'to [DE89 3704 0044 0532 0130 00] and to [GB82WEST12345698765432].',
      'to DE88 3704 0044 0532 0130 00',
      'to xDE89370400440532013000',
      '[DE89370400440532013000]',
    ],
  ],
  [
    'us_ssn',
    [
      'it is [123-45-6789] or [123 45 6789].',
      '[129-45-6789], [266-66-6900], [100-45-6789], [123-45-0012], [100 10 1000], [123-40-1000]',
      '000-45-6789, 666-45-6789, 900-45-6789, 123-00-6789, 123 00 6789, 123-45-0000',
      '1-123-45-6789, 1.123-45-6789, 123-45-6789-1, 123-45-6789.1, -[123-45-6789]-',
      '123-45 6789, 123 45-6789',
      '[123-45-6789]',
    ],
  ],
  [
    'ip_address',
    [
      'from [192.0.2.1] to [2001:db8::1] today',
      'from [10.0.0.1].',
      'from [fe80::1]. Or [fe80::], or [::1]: yes',
      'http://host:[10.0.0.1]:80, a:[10.0.0.1], a:256.0.0.1, a:1.2.3.4.5, a:1.2.3.400',
      'a:[10.0.0.1]: and b:[10.0.0.2]:[10.0.0.3]',
      'x2001:db8::1, 2001:db8::1x, g::1, a::b, std::, ::, 12:30:45, 2001:db8::1::2',
      'at [1::2], at: no',
      `at [${longest6}] and :[${longest6}]..`,
      `at [2001:db8::1]${'.'.repeat(60)} 5, [fe80::]${'.'.repeat(60)}, [${longest6}]....:`,
      'at [fe80::1]:. or [fe80::1].: yes, [fe80::]., 1::2:: no',
      `at ${'1:'.repeat(60)}, [10.0.0.1]:[10.0.0.2]${':1'.repeat(60)}`,
      '[::ffff:10.0.0.1]',
      '1.2.3, 1.2.3.4.5, v1.2.3.4, 256.1.1.1, 1.1.1.256, [0.0.0.0].',
    ],
  ],
];

const cases = hides.flatMap(([name, texts]) => texts.map((text): [string, string] => [name, text]));

describe('personal data', () => {
  it.each(cases)('is hidden by %s where it is in brackets, and nowhere else: %s', (name, text) => {
    const plain = text.replaceAll(/[[\]]/g, '');
    expect(shown(name, plain)).toBe(text.replaceAll(/\[[^\]]*\]/g, `[redacted:${name}]`));
  });
});
