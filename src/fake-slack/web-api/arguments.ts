import type { IncomingMessage } from 'node:http';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';

/** Bytes of a request that are read at most. */
const largestBody = 4 * 1024 * 1024;

/** Arguments that arrive as JSON inside of a form. */
const inJson = new Set(['blocks', 'attachments', 'view', 'metadata', 'files']);

/** Arguments that arrive as the words `true` and `false` in a form. */
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

/** Reads the whole body of a request. Throws when it is larger than 4 MiB. */
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
 * Reads the arguments of a call from JSON or from a form, as Slack takes them, together with those
 * of the address. `null` when the body is neither.
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

/** Reads the one file of an upload, sent as a form with a part for it or as it is. */
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

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
