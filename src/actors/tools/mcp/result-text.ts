import { isDeepStrictEqual } from 'node:util';
import { ContentBlockSchema } from '@modelcontextprotocol/core';
import type { ResultExtras } from '../../../machines/domain/task.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { oneLine } from '../../../machines/legible.ts';
import { keptStart } from '../../../machines/text.ts';
import type { CallResult } from './call-result.ts';

/** Maximum characters of a result's forwarded parts, as JSON. */
const longestParts = 1024 * 1024;

/**
 * Converts a call result to text, the only form sent to a model: text parts as they are, structured data as JSON unless
 * a string contains it, and only a mention of images, audio and files.
 */
export function resultText({ content, structured }: CallResult): string {
  const parts = content.map((part) => (isJsonObject(part) ? partText(part) : null));
  const told = parts.filter((part) => part !== null);
  if (structured !== undefined && !told.some((text) => holds(text, structured))) {
    told.push(JSON.stringify(structured));
  }
  return told.join('\n');
}

/** Returns the result's non-text content in forms that every MCP client accepts; `clean` removes secrets. */
export function resultExtras(
  { content, structured }: CallResult,
  clean: (text: string) => string,
): ResultExtras {
  const cleaned = (value: unknown) => JSON.parse(clean(JSON.stringify(value))) as JsonValue;
  const parts: JsonObject[] = [];
  let room = longestParts;
  for (const part of content) {
    if (!isMore(part)) continue;
    const { success, data } = ContentBlockSchema.safeParse(part);
    if (!success) continue;
    room -= JSON.stringify(data).length;
    if (room >= 0) parts.push(cleaned(data) as JsonObject);
  }
  return {
    ...(structured === undefined ? {} : { structured: cleaned(structured) }),
    ...(parts.length === 0 ? {} : { parts }),
  };
}

/** Returns whether a string is the JSON of a value, or of its only member: many servers wrap text this way. */
function holds(text: string, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return text.trim() === String(value).trim();
  if (text.includes(JSON.stringify(value))) return true;
  const members = isJsonObject(value) ? Object.values(value) : [];
  if (members.length === 1 && holds(text, members[0])) return true;
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}

/** Returns whether a part contains more than text. */
function isMore(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  const { type, resource = null } = part;
  if (type === 'resource') return isJsonObject(resource) && typeof resource['text'] !== 'string';
  return type === 'image' || type === 'audio' || type === 'resource_link';
}

function partText(part: JsonObject): string | null {
  const { type, text, data, mimeType, uri, resource } = part;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? text : null;
    case 'image':
    case 'audio':
      return `[${type}: ${shown(mimeType)}, ${sizeOf(data)} bytes]`;
    case 'resource_link':
      return `[resource: ${shown(uri)}]`;
    case 'resource':
      return isJsonObject(resource ?? null) ? resourceText(resource as JsonObject) : null;
    default:
      return null;
  }
}

function resourceText({ uri, mimeType, text, blob }: JsonObject): string {
  if (typeof text === 'string') return text;
  return `[resource: ${shown(uri)}, ${shown(mimeType)}, ${sizeOf(blob)} bytes]`;
}

function shown(value: JsonValue | undefined): string {
  return oneLine(typeof value === 'string' ? keptStart(value, 500) : null);
}

function sizeOf(base64: JsonValue | undefined): number {
  return typeof base64 === 'string' ? Math.floor((base64.length * 3) / 4) : 0;
}
