import type { Span } from './find-spans.ts';

/** Prefixes of issued card numbers with their lengths in digits. */
const networks: readonly { begins: RegExp; lengths: readonly number[] }[] = [
  { begins: /^4/, lengths: [13, 16, 19] },
  { begins: /^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720|220[0-4])/, lengths: [16] },
  { begins: /^3[47]/, lengths: [15] },
  { begins: /^3(?:0[0-5]|[689])/, lengths: [14, 16, 19] },
  { begins: /^(?:6011|64[4-9]|65|62|352[89]|35[3-8])/, lengths: [16, 17, 18, 19] },
  { begins: /^(?:50|5[6-8]|6[0379])/, lengths: [16, 18, 19] },
];

/** Length of the longest number in digits, which also limits the number of groups. */
const longest = 19;

/** Digit sum of the double of each digit, for the checksum. */
const doubled = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];

/**
 * Returns the payment card numbers in a run of digits, which blanks or hyphens may separate. A number starts and ends
 * at a digit group boundary and has the length of its network and a valid check digit.
 */
export function cardNumbersIn(run: string): Span[] {
  const groups = [...run.matchAll(/\d+/g)].map(({ index, 0: digits }) => ({ index, digits }));
  const spans: Span[] = [];
  for (const [first, { index: start }] of groups.entries()) {
    let digits = '';
    for (const group of groups.slice(first, first + longest)) {
      digits += group.digits;
      if (digits.length > longest) break;
      if (isCardNumber(digits)) spans.push({ start, end: group.index + group.digits.length });
    }
  }
  return spans;
}

function isCardNumber(digits: string): boolean {
  return (
    networks.some(
      ({ begins, lengths }) => lengths.includes(digits.length) && begins.test(digits),
    ) && hasLuhnDigit(digits)
  );
}

/** The checksum of ISO/IEC 7812-1. */
function hasLuhnDigit(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    sum += place % 2 === 0 ? digit : (doubled[digit] ?? 0);
  }
  return sum % 10 === 0;
}
