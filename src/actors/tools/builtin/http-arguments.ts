import type { JsonObject } from '../../../machines/json.ts';
import { headersProblem } from './http-headers.ts';

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
