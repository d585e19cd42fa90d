import type { JsonObject } from '../../../machines/json.ts';
import { headersProblem } from './http-headers.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** What `http_request` takes. */
export const httpParameters: JsonObject = {
  type: 'object',
  properties: {
    method: { enum: methods, description: 'GET if left out' },
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

/** Arguments that fit `httpParameters`. */
interface HttpArguments {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  json?: unknown;
}

/**
 * Returns what is wrong with arguments that fit the schema, in one sentence without any value of them; `null` when
 * they will do.
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

/** Makes a request of arguments with which nothing is wrong. */
export function httpRequestOf(args: JsonObject): { url: URL; init: RequestInit } {
  const { url, method = 'GET', headers = {}, body, json } = args as unknown as HttpArguments;
  // Entries, as a record loses what is called `__proto__` on the way into Headers.
  const sent = new Headers(Object.entries(headers));
  if (json !== undefined && !sent.has('content-type')) sent.set('content-type', 'application/json');
  const content = json === undefined ? body : JSON.stringify(json);
  return {
    url: new URL(url),
    init: { method, headers: sent, ...(content === undefined ? {} : { body: content }) },
  };
}
