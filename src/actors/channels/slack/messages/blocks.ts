import type {
  ContextBlock,
  HeaderBlock,
  PlainTextElement,
  RichTextBlock,
  SectionBlock,
} from '@slack/types';
import { cut } from './escape.ts';

/** Most characters of the text of a section. */
export const longestSection = 3_000;

/** Makes a text that Slack shows as it is: no markup, no mention, no emoji codes. It must not be empty. */
export function plainText(text: string, limit = longestSection): PlainTextElement {
  return { type: 'plain_text', text: cut(text, limit), emoji: false };
}

/** Makes a heading of 150 characters at most. */
export function header(text: string): HeaderBlock {
  return { type: 'header', text: plainText(text, 150) };
}

/** Makes a paragraph of lines that Slack shows as they are. */
export function section(...lines: string[]): SectionBlock {
  return { type: 'section', text: plainText(lines.join('\n')) };
}

/** Makes a box for foreign text, shown as it is, so that it cannot imitate the app's own. It must not be empty. */
export function quotation(text: string): RichTextBlock {
  const quoted = { type: 'text' as const, text: cut(text, longestSection) };
  return {
    type: 'rich_text',
    elements: [{ type: 'rich_text_preformatted', elements: [quoted] }],
  };
}

/** Makes small print in Slack's markup; its text must be the app's own. */
export function smallPrint(...sentences: string[]): ContextBlock {
  return {
    type: 'context',
    elements: sentences.map((text) => ({ type: 'mrkdwn', text, verbatim: true })),
  };
}

/** Writes a moment (epoch milliseconds) so that each reader sees it in their own time zone. */
export function localTime(at: number): string {
  const fallback = `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} at {time}|${fallback}>`;
}
