import type { Tool } from '../../ports/tool.ts';
import { builtinTool } from './builtin-tool.ts';
import { httpArgumentsProblem, httpParameters, httpRequestOf } from './http-arguments.ts';
import { bodyText } from './http-body-text.ts';
import { requestOutside } from './outbound-request.ts';

const longestHeader = 1_000;

/** Response headers that are returned. */
const shownHeaders = [
  'content-type',
  'location',
  'etag',
  'last-modified',
  'link',
  'retry-after',
  'allow',
];

/**
 * Sends one HTTP request through the egress policy and returns the response as JSON `{status, headers, body}` with at
 * most 1 MiB of text (docs/contract/egress.md, docs/contract/models.md). On a refusal by the policy, rejects with a
 * ToolError that contains only the policy's message. Without egress no host is reachable.
 */
export function httpRequest(): Tool {
  return builtinTool({
    name: 'http_request',
    description:
      'Sends an HTTP request and returns its status, some of its headers and its body as text.',
    parameters: httpParameters,
    idempotent: false,
    check(args) {
      const problem = httpArgumentsProblem(args);
      return problem === null ? null : `http_request: ${problem}`;
    },
    async run(args, run) {
      const { url, init } = httpRequestOf(args);
      const request = { tool: 'http_request', url, init, read: answerOf };
      return JSON.stringify(await requestOutside(request, run));
    },
  });
}

async function answerOf(response: Response) {
  const { status, headers } = response;
  return { status, headers: toldOf(headers), body: await bodyText(response) };
}

function toldOf(headers: Headers): Record<string, string> {
  const present = shownHeaders.filter((name) => headers.has(name));
  return Object.fromEntries(
    present.map((name) => [name, (headers.get(name) ?? '').slice(0, longestHeader)]),
  );
}
