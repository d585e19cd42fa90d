import type {
  ContextBlock,
  HeaderBlock,
  PlainTextElement,
  RichTextBlock,
  SectionBlock,
} from '@slack/types';
import { cut } from './escape.ts';

/** Maximum characters of a section's text. */
export const longestSection = 3_000;

/** Creates a string without markup, mentions or emoji codes. Must not be empty. */
export function plainText(text: string, limit = longestSection): PlainTextElement {
  return { type: 'plain_text', text: cut(text, limit), emoji: false };
}

/** Creates a heading of 150 characters at most. */
export function header(text: string): HeaderBlock {
  return { type: 'header', text: plainText(text, 150) };
}

/** Creates a paragraph of plain-text lines. */
export function section(...lines: string[]): SectionBlock {
  return { type: 'section', text: plainText(lines.join('\n')) };
}

/** Creates a paragraph in Slack's markup; its text must be the app's own. */
export function markup(text: string): SectionBlock {
  return { type: 'section', text: { type: 'mrkdwn', text, verbatim: true } };
}

/**
 * Creates a box for untrusted text without markup, so that the text cannot imitate the app's own. Must not be empty.
 */
export function quotation(text: string): RichTextBlock {
  const quoted = { type: 'text' as const, text: cut(text, longestSection) };
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [quoted] }],
  };
}

/** Creates small print in Slack's markup; its text must be the app's own. */
export function smallPrint(...sentences: string[]): ContextBlock {
  return {
    type: 'context',
    elements: sentences.map((text) => ({ type: 'mrkdwn', text, verbatim: true })),
  };
}

/** Formats a time (epoch milliseconds) for the time zone of each reader. */
export function localTime(at: number): string {
  const fallback = `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} at {time}|${fallback}>`;
}
