import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rawRequest } from '../../helpers/raw-request.ts';
import { openDashboard, type TestDashboard } from '../../helpers/test-dashboard.ts';

/** Sends a request unchanged; `PORT` is that of the dashboard. */
async function sent(page: TestDashboard, ...lines: string[]) {
  const text = [...lines, 'Connection: close', '', ''].join('\r\n');
  const at = String(page.dashboard.port);
  const answer = await rawRequest(page.url, text.replaceAll('PORT', at));
  return { ...answer, body: parsed(answer.body) };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

describe('the Host of a request to the dashboard (WEB-1)', () => {
  it.each([
    ['evil.test:PORT', 403],
    ['localhost.evil.com:PORT', 403],
    ['localhost:1', 403],
    ['localhost', 403],
    ['localhost.:PORT', 403],
    ['127.0.0.1.:PORT', 403],
    ['0.0.0.0:PORT', 403],
    ['user@localhost:PORT', 403],
    ['', 403],
    ['LOCALHOST:PORT', 200],
    ['localhost:PORT', 200],
    ['127.0.0.1:PORT', 200],
    ['[::1]:PORT', 200],
  ])('%s is answered with %i', async (host, status) => {
    const page = await openDashboard();
    for (const path of ['/api/health', '/api/agents']) {
      const answer = await sent(page, `GET ${path} HTTP/1.1`, `Host: ${host}`);
      expect(answer.status).toBe(status);
      if (status === 403)
        expect(answer.body).toEqual({ error: 'forbidden_host', code: 'forbidden_host' });
    }
  });

  it('is checked before anything is served: the page, the stream, and missing paths', async () => {
    const page = await openDashboard();
    for (const path of ['/', '/assets/x.js', '/api/events', '/nothing']) {
      const answer = await sent(page, `GET ${path} HTTP/1.1`, 'Host: evil.test:PORT');
      expect([path, answer.status, answer.body]).toEqual([
        path,
        403,
        { error: 'forbidden_host', code: 'forbidden_host' },
      ]);
    }
  });

  it('is refused twice, without a value, and with a target that is not a path', async () => {
    const page = await openDashboard();
    const own = 'Host: localhost:PORT';
    const two = await sent(page, 'GET /api/health HTTP/1.1', own, 'Host: evil.test');
    const none = await sent(page, 'GET /api/health HTTP/1.1');
    const absolute = await sent(page, 'GET http://evil.test/api/health HTTP/1.1', own);
    expect([two.status, none.status, absolute.status]).toEqual([400, 400, 400]);
  });
});

describe('the origin of a request to the dashboard (WEB-2)', () => {
  const post = 'POST /api/agents/rescan HTTP/1.1';
  const get = 'GET /api/agents HTTP/1.1';
  const host = 'Host: localhost:PORT';
  const json = ['Content-Type: application/json', 'Content-Length: 2'];

  it.each<[string, number, string[]]>([
    ['a command-line client', 200, [post, host, ...json]],
    ['its own page', 200, [post, host, 'Origin: http://localhost:PORT', ...json]],
    ['a page at another port', 403, [post, host, 'Origin: http://localhost:3000', ...json]],
    ['a page on another site', 403, [post, host, 'Origin: https://evil.test', ...json]],
    ['a page with an opaque origin', 403, [post, host, 'Origin: null', ...json]],
    ['another name of the dashboard', 403, [post, host, 'Origin: http://127.0.0.1:PORT', ...json]],
    ['its page over https', 403, [post, host, 'Origin: https://localhost:PORT', ...json]],
    ['another site', 403, [post, host, 'Sec-Fetch-Site: cross-site', ...json]],
    ['another port of this host', 403, [post, host, 'Sec-Fetch-Site: same-site', ...json]],
    ['a read from another port', 403, [get, host, 'Sec-Fetch-Site: same-site']],
    ['a page that reads with its origin', 403, [get, host, 'Origin: http://localhost:3000']],
    ['a preflight', 403, ['OPTIONS /api/agents HTTP/1.1', host, 'Origin: http://localhost:PORT']],
    ['a form', 415, [post, host, 'Content-Type: text/plain', 'Content-Length: 2']],
    ['a form with fields', 415, [post, host, 'Content-Type: application/x-www-form-urlencoded']],
    ['a beacon without a type', 415, [post, host, 'Content-Length: 0']],
  ])('%s: %i', async (_, status, lines) => {
    const page = await openDashboard();
    const text = [
      ...lines,
      'Connection: close',
      '',
      lines.some((line) => line.endsWith(': 2')) ? '{}' : '',
    ];
    const at = String(page.dashboard.port);
    const answer = await rawRequest(page.url, text.join('\r\n').replaceAll('PORT', at));
    expect(answer.status).toBe(status);
    if (status === 403)
      expect(parsed(answer.body)).toEqual({ error: 'forbidden_origin', code: 'forbidden_origin' });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual(
      [],
    );
  });

  it('changes nothing when it is refused', async () => {
    const page = await openDashboard((workspace) => {
      mkdirSync(join(workspace, 'till'));
      writeFileSync(join(workspace, 'till/service.yaml'), 'agent_id: till\n');
    });
    const lines = ['POST /api/agents/till/start HTTP/1.1', 'Host: localhost:PORT'];
    await sent(page, ...lines, 'Origin: http://localhost:3000', 'Content-Type: application/json');
    const { body } = await page.get('/api/agents/till');
    expect(body).toMatchObject({ id: 'till', status: 'stopped' });
  });
});

describe('the browser permissions of the dashboard (WEB-3)', () => {
  it('are on every answer, including refusals', async () => {
    const page = await openDashboard();
    for (const path of ['/', '/api/health', '/nothing', '/api/agents/../../etc']) {
      const { headers } = await page.get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
      );
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    }
    expect((await page.get('/api/health')).headers.get('cache-control')).toBe('no-store');
  });
});

describe('the token of the dashboard', () => {
  it('is required below /api only', async () => {
    const page = await openDashboard(undefined, { token: 'of-the-page' });
    const shown = async (path: string, header: string) =>
      (await page.request('GET', path, { headers: { authorization: header } })).status;
    expect(await shown('/api/health', 'Bearer of-the-page')).toBe(200);
    for (const header of ['', 'Bearer guessed', 'Bearer of-the-page2', 'Basic of-the-page']) {
      const answer = await page.request('GET', '/api/events', {
        headers: { authorization: header },
      });
      expect([answer.status, answer.body]).toEqual([
        401,
        { error: 'unauthorized', code: 'unauthorized' },
      ]);
    }
    expect(await shown('/nothing', '')).toBe(404);
  });
});

describe('a path of the dashboard (WEB-5)', () => {
  it.each([
    ['/api/agents/..', 400],
    ['/api/agents/%2e%2e%2f', 400],
    ['/api/agents/..%5c', 400],
    ['/api/agents/%00', 400],
    ['/api/agents/Till', 400],
    [`/api/agents/${'a'.repeat(65)}`, 400],
    ['/api/agents/%', 400],
    ['/api/agents/nobody', 404],
    ['/..%2f..%2fpackage.json', 404],
    ['/assets/../../package.json', 404],
  ])('%s: %i', async (path, status) => {
    const page = await openDashboard();
    expect((await sent(page, `GET ${path} HTTP/1.1`, 'Host: localhost:PORT')).status).toBe(status);
  });
});
