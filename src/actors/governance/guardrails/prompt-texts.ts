import { isUtf8 } from 'node:buffer';
import type { Message, Part } from '../../../machines/domain/task.ts';
import { addTextsOf } from './value-texts.ts';

type FilePart = Extract<Part, { kind: 'file' }>;

/**
 * Returns the texts of a prompt that `deny_prompts` is matched against: all parts joined, every text of a data part by
 * itself, and the text of a file. A request, and thus the text to check, is at most 2 MiB.
 */
export function promptTexts({ parts }: Message): Set<string> {
  const texts = new Set([parts.map(partText).join('\n')]);
  for (const part of parts) {
    if (part.kind === 'data') addTextsOf(part.data, texts);
    if (part.kind === 'file') for (const text of fileTexts(part)) texts.add(text);
  }
  return texts;
}

function partText(part: Part): string {
  if (part.kind === 'text') return part.text;
  if (part.kind === 'data') return JSON.stringify(part.data);
  const { name, mimeType, uri } = part.file;
  return [name, mimeType, uri].filter((text) => text !== undefined).join(' ');
}

/** Returns each name separately, and the bytes as far as they are text. */
function fileTexts({ file: { name, mimeType, uri, bytes } }: FilePart): string[] {
  const texts = [name, mimeType, uri].filter((text) => text !== undefined);
  const content = bytes === undefined ? null : textOf(Buffer.from(bytes, 'base64'));
  return content === null ? texts : [...texts, content];
}

/** Decodes bytes in common text encodings; `null` for binary data. */
function textOf(bytes: Buffer): string | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.includes(0)) return null;
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
}
