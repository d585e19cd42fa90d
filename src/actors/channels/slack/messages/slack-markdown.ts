import { slackifyMarkdown } from 'slackify-markdown';
import { escapeMarkup } from './escape.ts';

/** Maximum length of a Slack message, in characters; the library converts this much quickly. */
export const longestMessage = 4_000;

/** Matches deeply nested quotes: the library's run time is quadratic in the nesting depth. */
const deepQuote = /^((?:[ \t]*>){5})(?:[ \t]*>)+/gm;

/** Matches deeply nested quote and list markers at the start of a line, unless the line is a rule such as `* * *`. */
const deepStart =
  /^(?![ \t]*([-*])(?:[ \t]*\1)*[ \t]*$)((?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){5}[ \t]*\d{0,9})(?=[->*+.)])/gm;

/** Matches a URL in angle brackets, unless the following text would become part of the URL. */
const bracketed = /<(https?:\/\/[^\s<>|]+)>(?=[.,;:!?)]*(?:\s|$))/g;

/** Placeholder for `<` (and `&` below) during the conversion; the library would let Slack mentions through. */
const lessThan = '\u{e000}';
const ampersand = '\u{e001}';

/** The library's encoding of the placeholders inside a URL. */
const lessThanInUrl = encodeURI(lessThan);
const ampersandInUrl = encodeURI(ampersand);

/**
 * Converts Markdown to Slack's markup. Mentions and imitations of Slack's own links are rendered as plain text; a link
 * leads where its text says. Returns `null` for a string that exceeds the message limit.
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

/** Returns `null` for a string on which the library throws, such as a URL with a malformed escape. */
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
