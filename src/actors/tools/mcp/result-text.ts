import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { oneLine } from '../../../machines/legible.ts';
import { keptStart } from '../../../machines/text.ts';
import type { CallResult } from './mcp-session.ts';

/**
 * Writes what a call came to as text, the only thing that a model is told: texts as they are, what is structured as
 * JSON where there is no text, and of pictures, sounds and files no more than that they are there.
 */
export function resultText({ content, structuredContent }: CallResult): string {
  const parts = content.map((part) =>
    isJsonObject(part as JsonValue) ? partText(part as JsonObject) : null,
  );
  const told = parts.filter((part) => part !== null);
  if (told.length === 0 && structuredContent !== undefined)
    return JSON.stringify(structuredContent);
  return told.join('\n');
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
