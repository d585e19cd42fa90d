import { slackifyMarkdown } from 'slackify-markdown';
import { escapeMarkup } from './escape.ts';

/** Maximum length of a message in Slack, in characters, which the library converts quickly. */
export const longestMessage = 4_000;

/** Quotes and lists within each other cost the library a time that grows with the square of their depth. */
const deepQuote = /^((?:[ \t]*>){5})(?:[ \t]*>)+/gm;

/** Matches the quote and list markers at the beginning of a line, unless the line is a rule such as `* * *`. */
const deepStart =
  /^(?![ \t]*([-*])(?:[ \t]*\1)*[ \t]*$)((?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){5}[ \t]*\d{0,9})(?=[->*+.)])/gm;

/** A URL in brackets, unless what follows would become a part of it. */
const bracketed = /<(https?:\/\/[^\s<>|]+)>(?=[.,;:!?)]*(?:\s|$))/g;

/** Stand for `<` and `&` on the way through the library, which would let mentions of Slack through. */
const lessThan = '\u{e000}';
const ampersand = '\u{e001}';

/** The library's encoding of both inside a URL. */
const lessThanInUrl = encodeURI(lessThan);
const ampersandInUrl = encodeURI(ampersand);

/**
 * Writes Markdown in Slack's markup. Mentions and imitations of Slack's own links are shown as they were
 * written; links lead where the text says. `null` for a text that is too long for a message anyway.
 */
export function slackMarkdown(markdown: string): string | null {
  if (markdown.length > longestMessage) return null;
  const plain = markdown.toWellFormed().replaceAll(/[\u{e000}\u{e001}]/gu, '');
  const guarded = plain
    .replaceAll(deepQuote, '$1')
    .replaceAll(deepStart, '$2\\')
    .replaceAll(bracketed, '$1')
    .replaceAll('<', lessThan)
    .replaceAll('&', ampersand);
  return unguarded(slackified(guarded)) ?? escapeMarkup(plain).trim();
}

/** Returns `null` for a text that the library breaks on, such as one with a malformed escape in a URL. */
function slackified(guarded: string): string | null {
  try {
    return slackifyMarkdown(guarded).trim();
  } catch {
    return null;
  }
}

function unguarded(text: string | null): string | null {
  if (text === null) return null;
  return text
    .replaceAll(lessThanInUrl, '%3C')
    .replaceAll(ampersandInUrl, '&amp;')
    .replaceAll(lessThan, '&lt;')
    .replaceAll(ampersand, '&amp;');
}
