import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docPages } from '../../../src/cli/docs/doc-pages.ts';
import { docSections } from '../../../src/cli/docs/doc-sections.ts';
import { type DocsServer, serveDocs } from '../../../src/cli/docs/serve-docs.ts';

const pages = docPages();
let server: DocsServer;

beforeAll(async () => {
  server = await serveDocs(pages, 0);
});

afterAll(() => server.close());

async function get(path: string): Promise<{ status: number; type: string | null; text: string }> {
  const response = await fetch(`${server.url}${path}`);
  const { status, headers } = response;
  return { status, type: headers.get('content-type'), text: await response.text() };
}

/** Sends a path as it is, which fetch would normalise. */
function statusOf(path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<number | undefined>((resolve, reject) => {
    const { port } = new URL(server.url);
    const options = { host: '127.0.0.1', port, path, headers, method };
    request(options, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('the documentation in the browser', () => {
  it('serves each page, whose links lead to existing pages, sections and images', async () => {
    const anchors = new Map(
      pages.map(({ name, text }) => [
        `/${name}`,
        new Set(docSections(text).map(({ anchor }) => anchor)),
      ]),
    );
    const broken: string[] = [];
    for (const { name } of pages) {
      const { status, type, text } = await get(`/${name}`);
      expect([name, status, type]).toEqual([name, 200, 'text/html; charset=utf-8']);
      for (const [, href = ''] of text.matchAll(/(?:href|src)="([^"]*)"/g)) {
        if (/^https?:/.test(href) || href === '/style.css') continue;
        const [path = '', anchor] = href.split('#');
        const known = anchors.get(path);
        const isImage = path.startsWith('/screens/') && (await statusOf(path)) === 200;
        if (isImage || (known !== undefined && (anchor === undefined || known.has(anchor))))
          continue;
        broken.push(`${name}: ${href}`);
      }
    }
    expect(broken).toEqual([]);
  });

  it('runs no script and loads nothing from another host', async () => {
    const { headers } = await fetch(`${server.url}/gate`);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    for (const { name } of pages) {
      const { text } = await get(`/${name}`);
      expect([name, /<script|<style| style="| on\w+="|src="(?!\/screens\/)/.test(text)]).toEqual([
        name,
        false,
      ]);
    }
  });

  it('serves no other file', async () => {
    const paths = [
      '/../package.json',
      '/screens/../../package.json',
      '/screens/%2e%2e/gate.md',
      '/..%2fpackage.json',
      '/gate.md',
      '/docs/gate',
      '//etc/passwd',
    ];
    const statuses = await Promise.all(paths.map((path) => statusOf(path)));
    expect(statuses).toEqual(paths.map(() => 404));
  });

  it('answers 404 for a picture that the package does not contain', async () => {
    const [page] = pages;
    const own = await serveDocs([{ ...page!, text: '![a](screens/removed.png)' }], 0);
    expect((await fetch(`${own.url}/screens/removed.png`)).status).toBe(404);
    expect((await fetch(`${own.url}/`)).status).toBe(200);
    own.close();
  });

  it('answers no other host, and is read-only', async () => {
    expect(await statusOf('/', { host: 'attacker.example' })).toBe(421);
    expect(await statusOf('/', {}, 'POST')).toBe(405);
    expect(await statusOf('/', {}, 'HEAD')).toBe(200);
  });

  it('searches, and shows the words as text', async () => {
    const { text } = await get(`/search?words=${encodeURIComponent('<b>"x"</b> quorum')}`);
    expect(text).toContain('<h1>&lt;b&gt;&quot;x&quot;&lt;/b&gt; quorum</h1>');
    expect(text).toContain('No section has all of these words.');
    const { text: found } = await get('/search?words=four_eyes+approver');
    expect(found).toContain('<dt><a href="/governance#');
  });

  it('lists every page', async () => {
    const { text } = await get('/');
    expect(pages.filter(({ name }) => !text.includes(`<dt><a href="/${name}">`))).toEqual([]);
  });
});
