import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { ToolError } from '../../../../src/actors/ports/tool.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';
import { notedOutbound, refusingOutbound } from '../../../helpers/noted-outbound.ts';
import { aBuiltin } from './a-builtin.ts';
import { aRun } from './isolated-script.ts';

async function serving(answer: (response: ServerResponse, path: string) => void): Promise<string> {
  return listenOnLoopback(createServer(({ url = '' }, response) => answer(response, url)));
}

function html(body: string): (response: ServerResponse) => void {
  return (response) =>
    void response.setHeader('content-type', 'text/html; charset=utf-8').end(body);
}

async function read(url: string, args: JsonObject = {}): Promise<string> {
  const tool = await aBuiltin('web_fetch');
  return tool.run({ url, ...args }, aRun({ outbound: notedOutbound() }));
}

const page = `<!doctype html><html><head><title>Prices &amp; terms</title><style>p{}</style>
<script>alert("never")</script></head><body><nav><a href="/home">Home</a></nav>
<main><h1>Prices</h1><p>From <a href="/terms?a=1">our terms</a>:</p>
<ul><li>one<li>two</ul><table><tr><th>Name<th>Price</tr><tr><td>Tea<td>2.50</tr></table>
<img src="x" onerror="alert(1)" alt="a cup"></main><footer>never mind</footer></body></html>`;

describe('web_fetch', () => {
  it('is refused with the message of the policy', async () => {
    const tool = await aBuiltin('web_fetch');
    const run = aRun({ outbound: refusingOutbound() });
    await expect(tool.run({ url: 'http://169.254.169.254/latest' }, run)).rejects.toEqual(
      new ToolError('egress blocked: 169.254.169.254 is not on the allowlist (mode=allowlist)'),
    );
    await expect(tool.run({ url: 'https://evil.example/' }, aRun())).rejects.toEqual(
      new ToolError('web_fetch: nothing can be reached from here'),
    );
  });

  it.each(['file:///etc/passwd', 'ftp://a.example/', 'x', 'http://user:pw@a.example/'])(
    'refuses %s',
    async (url) => {
      await expect(read(url)).rejects.toThrow(/^web_fetch: argument url must /);
    },
  );

  it('returns the main content', async () => {
    const url = await serving(html(page));
    expect(await read(url)).toBe(`# Prices & terms

# Prices

From our terms [${url}/terms?a=1]:

 * one
 * two

Name   Price
Tea    2.50`);
  });

  it('returns the whole page when asked', async () => {
    const url = await serving(html(page));
    const text = await read(url, { whole_page: true });
    expect(text).toContain(`Home [${url}/home]`);
    expect(text).toContain('never mind');
    expect(text).not.toContain('alert');
  });

  it('returns a page that is not HTML unchanged, in parts', async () => {
    const url = await serving(
      (response) => void response.setHeader('content-type', 'application/json').end('{"a":"<b>"}'),
    );
    expect(await read(url)).toBe('{"a":"<b>"}');
    expect(await read(url, { offset: 2, limit: 3 })).toBe(
      'a":\n[characters 2 to 5 of 11; continue with offset 5]',
    );
  });

  it('reports the status of a refusal', async () => {
    const url = await serving((response) => void response.writeHead(404).end('no'));
    await expect(read(`${url}/x#y`)).rejects.toEqual(
      new ToolError(`web_fetch: ${url}/x answered with status 404`),
    );
  });

  it.each([
    ['with extreme nesting', '<div>'.repeat(200_000)],
    ['of nested tables', '<table><tr><td>'.repeat(3_000)],
    ['of unclosed tags', '<a href="'.repeat(100_000)],
    ['of many entities', '&amp'.repeat(400_000)],
  ])('is not blocked by a page %s', async (_, body) => {
    const url = await serving(html(`<main>${body}`));
    const outcome = await read(url).catch(String);
    expect(typeof outcome).toBe('string');
    expect(outcome).not.toContain('failed inside the service');
  });
});
