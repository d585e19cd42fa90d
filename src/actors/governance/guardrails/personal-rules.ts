import { isIPv4, isIPv6 } from 'node:net';
import type { Span } from './find-spans.ts';
import { type RedactionRule, when } from './redaction-rule.ts';

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

/** Countries and the characters of their IBAN (ISO 13616 registry). */
const registry = `
  AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22
  DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28
  HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25
  MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29
  RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29
  VA22 VG24 XK20 YE30
`;

const lengths = new Map(
  registry
    .trim()
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

/**
 * Returns the end of the IBAN at the start of a string, or `null`. Blanks and hyphens may separate its groups. It must
 * have the length of its country and a valid checksum, and end at a word boundary.
 */
export function endOfIban(text: string): number | null {
  const length = lengths.get(text.slice(0, 2).toUpperCase());
  if (length === undefined) return null;
  let account = '';
  let end = 0;
  for (const character of text) {
    if (account.length === length) break;
    end += character.length;
    if (/[A-Za-z0-9]/.test(character)) account += character;
    else if (!/[ -]/.test(character) || /[^A-Za-z0-9]/.test(text[end] ?? '')) return null;
  }
  if (account.length < length || /\w/.test(text[end] ?? '')) return null;
  return remainderOf(account) === 1 ? end : null;
}

/** ISO 7064 remainder modulo 97: letters count from 10, the first four characters come last. */
function remainderOf(account: string): number {
  let remainder = 0;
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}

const octet = String.raw`(?:25[0-5]|2[0-4]\d|1?\d?\d)`;

/** Rules for data that identifies a person or place: the group `pii`. */
export const personalRules: readonly RedactionRule[] = [
  {
    name: 'email',
    pattern: String.raw`[\pL\pN_.%+'-]+@(?:[\pL\pN](?:[\pL\pN-]*[\pL\pN])?\.)+\pL{2,63}`,
    // Excludes image names for high-density screens: logo@2x.png.
    narrow: when((found) => !/@\dx\.(?:png|jpe?g|gif|webp|svg|avif)$/i.test(found)),
  },
  {
    name: 'phone',
    isInOneLine: true,
    pattern: String.raw`\+\d{1,3}(?:[ .-]?\(?\d{1,4}\)?){2,6}|(?:\+?1[ .-]?)?\(?[2-9]\d{2}\)?[ .-]{1,2}\d{3}[ .-]\d{4}`,
    narrow: when((found, before, after) => {
      if (found.replace(/\D/g, '').length < 8) return false;
      return found.startsWith('+') ? !isJoinedBefore(before) : standsAlone(before, after);
    }),
  },
  {
    name: 'credit_card',
    isInOneLine: true,
    pattern: String.raw`\d(?:[ -]?\d){12,}`,
    narrow: (text, match) => {
      const { before, after } = neighbours(text, match);
      return cardNumbersIn(text.slice(match.start, match.end))
        .map(({ start, end }) => ({ start: start + match.start, end: end + match.start }))
        .filter(({ start }) => start > match.start || !/\d\.$/.test(before))
        .filter(({ end }) => end < match.end || !/^\.\d/.test(after));
    },
  },
  {
    name: 'iban',
    isInOneLine: true,
    pattern: String.raw`(?i)\b[a-z]{2}\d{2}`,
    narrow: (text, { start }) => {
      const end = endOfIban(text.slice(start, start + 80));
      return end === null ? [] : [{ start, end: start + end }];
    },
  },
  {
    name: 'us_ssn',
    isInOneLine: true,
    pattern: String.raw`\b\d{3}(?:-\d{2}-| \d{2} )\d{4}\b`,
    narrow: when(
      (found, before, after) =>
        !/^(?:000|666|9)|[ -]00[ -]|0000$/.test(found) && standsAlone(before, after),
    ),
  },
  {
    name: 'ip_address',
    pattern: String.raw`\b${octet}(?:\.${octet}){3}\b|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*`,
    narrow: narrowAddress,
  },
];

/** Returns whether a number is not part of a longer number, a word or a decimal. */
function standsAlone(before: string, after: string): boolean {
  return !isJoinedBefore(before) && !isJoinedAfter(after);
}

function isJoinedBefore(before: string): boolean {
  return /(?:\w|\d[.-])$/.test(before);
}

function isJoinedAfter(after: string): boolean {
  return /^(?:\w|[.-]\d)/.test(after);
}

function neighbours(text: string, { start, end }: Span): { before: string; after: string } {
  return { before: text.slice(Math.max(0, start - 2), start), after: text.slice(end, end + 2) };
}

/** Returns the IPv6 address of a match, or the IPv4 addresses if it only looks like IPv6, such as `host:10.0.0.1`. */
function narrowAddress(text: string, match: Span): Span[] {
  const run = text.slice(match.start, match.end);
  const span = withinRun(run, match.start);
  if (isAddress6(text, span)) return [span];
  return [...run.matchAll(/(?<!\d)\d{1,3}(?:\.\d{1,3}){3}/g)]
    .map(({ index, 0: found }) => ({ found, start: match.start + index }))
    .map(({ found, start }) => ({ start, end: start + found.length }))
    .filter(({ start, end }) => isIPv4(text.slice(start, end)) && isApart(text, { start, end }));
}

/** Excludes a colon before an address, and trailing single colons and dots, however many there are. */
function withinRun(run: string, offset: number): Span {
  const start = /^:(?!:)/.test(run) ? 1 : 0;
  let end = run.length;
  while (run[end - 1] === '.' || (run[end - 1] === ':' && run[end - 2] !== ':')) end -= 1;
  return { start: offset + start, end: offset + end };
}

/** Code contains names such as a::b and std::; a relevant address contains a digit. */
function isAddress6(text: string, span: Span): boolean {
  const address = text.slice(span.start, span.end);
  const { before, after } = neighbours(text, span);
  return isIPv6(address) && /\d/.test(address) && !/\w$/.test(before) && !/^\w/.test(after);
}

function isApart(text: string, span: Span): boolean {
  const { before, after } = neighbours(text, span);
  return standsAlone(before, after);
}
