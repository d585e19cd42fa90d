import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { beforeAll, expect, it } from 'vitest';
import { pageHeaders } from '../../../src/http/middleware/page-files.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { openDashboard } from '../../helpers/test-dashboard.ts';

beforeAll(buildPage);

const built = join(import.meta.dirname, '../../../dist/ui/dashboard');

/** Where the page has its first script. */
function firstScript(): string {
  return /src="\.\/([^"]+)"/.exec(readFileSync(join(built, 'index.html'), 'utf8'))?.[1] ?? '';
}

/** A dashboard of an agent with a long configuration, and its answer in the bytes of the wire. */
async function open() {
  const page = await openDashboard((workspace) => {
    mkdirSync(join(workspace, 'till'));
    const description = 'It pays. '.repeat(400);
    writeFileSync(
      join(workspace, 'till', 'service.yaml'),
      `agent_id: till\nversion: 1.0.0\ndescription: ${description}\n`,
    );
  });
  return async (path: string, headers: Record<string, string> = {}) => {
    const { statusCode, headers: told, body } = await request(page.url + path, { headers });
    const bytes = (await body.bytes()).byteLength;
    const { 'content-encoding': encoding = 'none', vary, etag } = told;
    return { status: statusCode, encoding, vary, etag, bytes, told };
  };
}

const browser = { 'accept-encoding': 'gzip, deflate, br, zstd' };

it.each([
  [browser, 'br'],
  [{ 'accept-encoding': 'gzip' }, 'gzip'],
  [{}, 'none'],
])('the page is sent to a client that accepts %j in %s', async (headers, encoding) => {
  const ask = await open();
  const script = firstScript();
  const answer = await ask(`/${script}`, headers);
  const { length } = readFileSync(join(built, script));
  expect({ ...answer, told: undefined, bytes: answer.bytes < length / 2 }).toEqual({
    ...{ status: 200, encoding, vary: 'Accept-Encoding', told: undefined },
    ...{ etag: expect.stringMatching(/^W\/"[0-9a-f]{32}"$/), bytes: encoding !== 'none' },
  });
  expect(answer.told).toMatchObject(
    Object.fromEntries(
      Object.entries(pageHeaders).map(([name, value]) => [name.toLowerCase(), value]),
    ),
  );
  const again = await ask(`/${script}`, { ...headers, 'if-none-match': String(answer.etag) });
  expect([again.status, again.encoding, again.bytes]).toEqual([304, 'none', 0]);
});

it('long JSON is sent compressed, and a file with an ETag for saves byte for byte', async () => {
  const ask = await open();
  const paths = ['/api/schema', '/api/health', '/api/agents/till/config'];
  const answers = await Promise.all(paths.map((path) => ask(path, browser)));
  expect(answers.map(({ encoding }) => encoding)).toEqual(['br', 'none', 'none']);
  expect(answers[2]?.etag).toMatch(/^"/);
});
