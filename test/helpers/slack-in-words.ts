import type {
  Button,
  KnownBlock,
  ModalView,
  MrkdwnElement,
  PlainTextElement,
  RichTextBlock,
} from '@slack/types';

/** Writes what Slack shows block by block, one line each, in words a person can read. */
export function messageInWords({ text, blocks }: { text: string; blocks: KnownBlock[] }): string {
  return [`[notification] ${text}`, ...blocks.map(blockInWords)].join('\n');
}

/** Writes what a modal shows, block by block. */
export function modalInWords({ title, blocks, submit, close }: ModalView): string {
  const sent = submit === undefined ? '' : `(primary) ${submit?.text} · `;
  const buttons = `[buttons] ${sent}${close?.text}`;
  const shown = blocks.map((block) => blockInWords(block as KnownBlock));
  return [`[modal] ${title.text}`, ...shown, buttons].join('\n');
}

/** Returns every text of a message or a modal with how Slack reads it. */
export function textsOf(value: unknown): { type: string; text: string }[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== 'object' || value === null) return [];
  const own = value as { type?: unknown; text?: unknown };
  const found =
    typeof own.type === 'string' && typeof own.text === 'string'
      ? [{ type: own.type, text: own.text }]
      : [];
  return [...found, ...Object.values(value).flatMap(textsOf)];
}

function blockInWords(block: KnownBlock): string {
  switch (block.type) {
    case 'header':
      return `[header] ${block.text.text}`;
    case 'section':
      return `[section · ${kindOf(block.text)}]${indented(block.text?.text ?? '')}`;
    case 'context':
      return `[small print] ${block.elements.map(({ text }: any) => text).join(' · ')}`;
    case 'rich_text':
      return `[box · as it is]${indented(quoted(block))}`;
    case 'actions':
      return `[actions] ${block.elements.map((button) => buttonInWords(button as Button)).join(' · ')}`;
    case 'input':
      return inputInWords(block);
    default:
      throw new Error(`nobody has put a ${block.type} into words`);
  }
}

function kindOf(text: PlainTextElement | MrkdwnElement | undefined): string {
  return text?.type === 'plain_text' ? 'plain text' : 'markup';
}

function quoted({ elements }: RichTextBlock): string {
  return elements.flatMap((part: any) => part.elements.map(({ text }: any) => text)).join('');
}

function buttonInWords({ style, text, url }: Button): string {
  const name = style === undefined ? text.text : `(${style}) ${text.text}`;
  return url === undefined ? name : `${name} → ${url}`;
}

function inputInWords({ label, hint, optional, element }: KnownBlock & { type: 'input' }): string {
  const most = 'max_length' in element ? element.max_length : undefined;
  const facts = [optional === true ? 'optional' : 'needed', `at most ${most} characters`];
  return `[input] ${label.text} (${facts.join(', ')}) — ${hint?.text}`;
}

/** Lines are indented, and the middle of a very long text is omitted. */
function indented(text: string): string {
  if (text.length > 1_000) {
    const left = text.length - 100;
    return ` ${text.slice(0, 60)} [${left} characters omitted here] ${text.slice(-40)}`;
  }
  return text.includes('\n') ? `\n    ${text.replaceAll('\n', '\n    ')}` : ` ${text}`;
}
