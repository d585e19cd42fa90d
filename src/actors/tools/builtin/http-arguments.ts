import type { JsonObject } from '../../../machines/json.ts';

/** Headers that belong to the connection, not to the caller. */
const forbidden = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'te',
  'trailer',
  'expect',
]);

const most = 50;

/** Returns the fault of a tool's request headers, in one sentence without values; `null` for valid ones. */
function headersProblem(headers: Readonly<Record<string, string>>): string | null {
  const entries = Object.entries(headers);
  if (entries.length > most) return `there may be at most ${most} headers`;
  const names = entries.map(([name]) => name.toLowerCase());
  for (const [index, [name, value]] of entries.entries()) {
    const lower = names[index] ?? '';
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/.test(lower)) return 'a header name is not one';
    if (forbidden.has(lower) || lower.startsWith('proxy-')) {
      return `the header ${name} cannot be set; leave it out`;
    }
    if (names.indexOf(lower) < index) return `the header ${name} is given twice`;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) {
      return `the header ${name} holds characters that no header can carry`;
    }
  }
  return null;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** JSON Schema of `http_request`'s arguments. */
export const httpParameters: JsonObject = {
  type: 'object',
  properties: {
    method: { enum: methods, description: 'GET if omitted' },
    url: { type: 'string', description: 'An http or https URL' },
    headers: {
      type: 'object',
      additionalProperties: { type: 'string' },
      description: 'Header names and values',
    },
    body: { type: 'string', description: 'Text to send' },
    json: { description: 'A value to send as JSON, instead of body' },
  },
  required: ['url'],
  additionalProperties: false,
};

/** Arguments that match `httpParameters`. */
interface HttpArguments {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  json?: unknown;
}

/**
 * Returns the fault of arguments that match the schema, in one sentence without their values; `null` for valid ones.
 */
export function httpArgumentsProblem(args: JsonObject): string | null {
  const { url, method = 'GET', headers = {}, body, json } = args as unknown as HttpArguments;
  const parsed = URL.parse(url);
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol)) {
    return 'argument url must be an http or https URL';
  }
  if (parsed.username !== '' || parsed.password !== '') {
    return 'argument url must not hold a user name or a password';
  }
  if (body !== undefined && json !== undefined) return 'give either body or json, not both';
  const hasBody = body !== undefined || json !== undefined;
  if (hasBody && (method === 'GET' || method === 'HEAD')) {
    return `a ${method} request has no body; use POST or leave it out`;
  }
  return headersProblem(headers);
}

/** Creates a request from valid arguments. */
export function httpRequestOf(args: JsonObject): { url: URL; init: RequestInit } {
  const { url, method = 'GET', headers = {}, body, json } = args as unknown as HttpArguments;
  // Passed as entries, since a record would lose a header named `__proto__`.
  const sent = new Headers(Object.entries(headers));
  if (json !== undefined && !sent.has('content-type')) sent.set('content-type', 'application/json');
  const content = json === undefined ? body : JSON.stringify(json);
  return {
    url: new URL(url),
    init: { method, headers: sent, ...(content === undefined ? {} : { body: content }) },
  };
}
