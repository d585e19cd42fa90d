import type { IncomingMessage } from 'node:http';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../src/machines/json.ts';

/** Maximum size of a request body in bytes. */
const largestBody = 4 * 1024 * 1024;

/** Arguments that a form contains as JSON. */
const inJson = new Set(['blocks', 'attachments', 'view', 'metadata', 'files']);

/** Arguments that a form contains as `true` or `false`. */
const booleans = new Set([
  'as_user',
  'exclude_archived',
  'include_locale',
  'link_names',
  'mrkdwn',
  'reply_broadcast',
  'return_im',
  'unfurl_links',
  'unfurl_media',
]);

const numbers = new Set(['limit', 'length']);

/** Reads a request body. Throws if it is larger than 4 MiB. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > largestBody) throw new Error('the request is larger than 4 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Reads a call's arguments from a JSON or form body, like Slack, and from the query string. `null` if the body is
 * neither.
 */
export function readArguments(
  query: URLSearchParams,
  body: string,
  contentType: string,
): JsonObject | null {
  const given = fromForm(query);
  if (!contentType.startsWith('application/json')) {
    return { ...given, ...fromForm(new URLSearchParams(body)) };
  }
  const parsed = parseJson(body === '' ? '{}' : body);
  return isJsonObject(parsed) ? { ...given, ...parsed } : null;
}

/** Reads the single file of an upload, sent as multipart form data or as the raw body. */
export async function readUpload(body: Buffer, contentType: string): Promise<string> {
  if (!contentType.startsWith('multipart/form-data')) return body.toString('utf8');
  const headers = { 'content-type': contentType };
  const form = await new Response(new Uint8Array(body), { headers }).formData();
  let content = '';
  for (const part of form.values()) content += typeof part === 'string' ? part : await part.text();
  return content;
}

function fromForm(form: URLSearchParams): JsonObject {
  return Object.fromEntries(Array.from(form, ([name, text]) => [name, valueOf(name, text)]));
}

function valueOf(name: string, text: string): JsonValue {
  if (inJson.has(name)) return parseJson(text) ?? text;
  if (booleans.has(name) && /^(true|false|1|0)$/.test(text)) return /^(true|1)$/.test(text);
  if (numbers.has(name) && /^\d{1,15}$/.test(text)) return Number(text);
  return text;
}
