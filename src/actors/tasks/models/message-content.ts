import type { FilePart, TextPart } from 'ai';
import type { Message, Part } from '../../../machines/domain/task.ts';

/** Maximum characters of a part's data that are sent to a model. */
const longestData = 16 * 1024;

/** Media types sent to models as they are; other files are mentioned by name only. */
const shown: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
]);

/**
 * Converts a message to model input. A file given by URL is named, not fetched: the caller chose the URL, and the
 * daemon must not fetch it on the caller's behalf.
 */
export function messageContent({ parts }: Message): (TextPart | FilePart)[] {
  return parts.map(contentOf).filter((part) => part.type !== 'text' || part.text !== '');
}

/** Returns an agent's message without its files: they came from tools, and are not the agent's words. */
export function messageText(message: Message): string {
  const parts = message.parts.filter(({ kind }) => kind !== 'file');
  return messageContent({ ...message, parts })
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n');
}

function contentOf(part: Part): TextPart | FilePart {
  switch (part.kind) {
    case 'text':
      return textOf(part.text);
    case 'data':
      return textOf(cut(JSON.stringify(part.data)));
    case 'file':
      return fileOf(part.file);
  }
}

function fileOf({ name, mimeType = '', uri, bytes }: FileOf): TextPart | FilePart {
  const label = name ?? 'a file';
  if (bytes === undefined) return textOf(`[${label}: ${uri ?? 'no content'}]`);
  if (shown.has(mimeType)) {
    const filename = name === undefined ? {} : { filename: name };
    return { type: 'file', data: bytes, mediaType: mimeType, ...filename };
  }
  const isText = mimeType.startsWith('text/') || mimeType === 'application/json';
  if (!isText) return textOf(`[${label}: ${mimeType || 'of unknown type'}, not shown]`);
  return textOf(`[${label}]\n${Buffer.from(bytes, 'base64').toString('utf8')}`);
}

type FileOf = Extract<Part, { kind: 'file' }>['file'];

function textOf(text: string): TextPart {
  return { type: 'text', text: text.toWellFormed() };
}

function cut(json: string): string {
  if (json.length <= longestData) return json;
  return `${json.slice(0, longestData)}… (${json.length - longestData} characters more)`;
}
