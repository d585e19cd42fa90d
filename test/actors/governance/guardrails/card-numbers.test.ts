import { describe, expect, it } from 'vitest';
import { cardNumbersIn } from '../../../../src/actors/governance/guardrails/personal-rules.ts';

const numbersIn = (run: string) =>
  cardNumbersIn(run).map(({ start, end }) => run.slice(start, end));

describe('a payment card number', () => {
  it.each([
    ['Visa of 13 digits', '4222222222222'],
    ['Visa', '4012888888881881'],
    ['Visa of 19 digits', '4000000000000000006'],
    ['Mastercard', '5555555555554444'],
    ['Mastercard of the range from 2221', '2221001234567896'],
    ['Mastercard of the range from 223', '2303123456789015'],
    ['Mastercard of the range to 2720', '2720991234567894'],
    ['Mir', '2204012345678903'],
    ['American Express', '371449635398431'],
    ['Diners Club from 300', '30569309025904'],
    ['Diners Club from 38', '38520000023237'],
    ['Discover', '6011111111111117'],
    ['Discover of the range from 644', '6445644564456445'],
    ['UnionPay', '6200000000000005'],
    ['UnionPay of 19 digits', '6200000000000000000'],
    ['JCB', '3530111333300000'],
    ['Maestro', '6759649826438453'],
    ['Maestro of 19 digits', '5018000000000000007'],
  ])('is found: %s', (_, number) => {
    expect(numbersIn(number)).toEqual([number]);
  });

  it.each([
    ['a wrong last digit', '4012888888881882'],
    ['two swapped digits', '4012888888888181'],
    ['no network, although the last digit is right', '1234567890123452'],
    ['a first digit of no network', '9123456789012348'],
    ['no Mastercard below 2221', '2220123456789015'],
    ['no Mastercard above 2720', '2721123456789019'],
    ['no JCB below 3528', '3527123456789013'],
    ['a Visa of 15 digits', '401288888888183'],
    ['a Visa of 18 digits', '401288888888188126'],
    ['a Mastercard of 14 digits', '51051051051051'],
    ['an American Express of 16 digits', '3714496353984306'],
    ['a longer number', '40128888888818810'],
    ['the end of a longer number', '14012888888881881'],
  ])('is not found in %s', (_, number) => {
    expect(numbersIn(number)).toEqual([]);
  });

  it.each<[string, string, string[]]>([
    ['in groups of four', '4012 8888 8888 1881', ['4012 8888 8888 1881']],
    ['separated by hyphens', '3714-496353-98431', ['3714-496353-98431']],
    [
      'with separate digits',
      '4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 6',
      ['4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 6'],
    ],
    ['after another number', '12 4012888888881881', ['4012888888881881']],
    ['before another number', '4012888888881881 2026 123', ['4012888888881881']],
    ['after zeros that a checksum ignores', '000 4222222222222', ['4222222222222']],
    [
      'next to another one',
      '4012 8888 8888 1881 5555 5555 5555 4444',
      ['4012 8888 8888 1881', '5555 5555 5555 4444'],
    ],
    ['in no run without digits', ' - ', []],
  ])('is found %s', (_, run, numbers) => {
    expect(numbersIn(run)).toEqual(numbers);
  });

  it('is found twice where the second one continues into the next group', () => {
    expect(numbersIn('4222222222222 006')).toEqual(['4222222222222', '4222222222222 006']);
  });
});
