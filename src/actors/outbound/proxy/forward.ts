import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Dispatcher, request } from 'undici';
import { type Answer, answerHeaders, failureAnswer } from './answer.ts';
import type { Pass } from './passes.ts';
import type { TunnelPorts } from './tunnel.ts';

/** Hop-by-hop headers, which no proxy forwards (RFC 9110 section 7.6.1), and headers that the proxy sets itself. */
const neighbourly = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Forwards a request with an absolute `http://` URL through the policy's dispatcher, which rules on the hop and adds
 * the workflow headers. Redirects are returned to the client; each connection serves one request.
 */
export async function forward(
  { egress, log }: TunnelPorts,
  pass: Pass,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = targetOf(incoming.url ?? '');
  if (url === null) {
    const text = 'this proxy accepts CONNECT host:port and requests with a full http:// address';
    return answer(response, { status: 400, text });
  }
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    const answered = await egress.within(pass.scope, () =>
      request(url, {
        dispatcher: egress.dispatcher,
        method: incoming.method as Dispatcher.HttpMethod,
        headers: passedOn(incoming.headersDistinct),
        body: hasBody(incoming) ? incoming : null,
        signal: gone.signal,
      }),
    );
    response.writeHead(answered.statusCode, {
      ...passedOn(answered.headers),
      connection: 'close',
    });
    await pipeline(answered.body, response);
  } catch (error) {
    if (response.headersSent || gone.signal.aborted) response.destroy();
    else answer(response, failureAnswer(error, url.hostname, { log, pass }));
  }
}

/** Ends a response with an answer of the proxy itself. */
export function answer(response: ServerResponse, said: Answer): void {
  response.writeHead(said.status, answerHeaders(said)).end(said.text);
}

function targetOf(address: string): URL | null {
  if (!/^http:\/\//i.test(address)) return null;
  const url = URL.parse(address);
  return url === null || url.username !== '' || url.password !== '' ? null : url;
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

type Headers = NodeJS.Dict<string | string[]>;

/** Removes hop-by-hop headers, including those named by `Connection`. */
function passedOn(headers: Headers): Record<string, string | string[]> {
  const named = [headers['connection'] ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase());
  const left = new Set([...neighbourly, ...named]);
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || left.has(name.toLowerCase()) ? [] : [[name, single(value)] as const],
    ),
  );
}

/** Unwraps a header that occurs once; undici refuses a list for some headers. */
function single(value: string | string[]): string | string[] {
  const [only = '', ...others] = [value].flat();
  return others.length === 0 ? only : value;
}
