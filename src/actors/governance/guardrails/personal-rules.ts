import { isIPv4, isIPv6 } from 'node:net';
import { endOfIban } from './bank-accounts.ts';
import { cardNumbersIn } from './card-numbers.ts';
import type { Span } from './find-spans.ts';
import { type RedactionRule, when } from './redaction-rule.ts';

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
