import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missingOf, TestBrowser } from '../../helpers/browser.ts';
import { startTestAgent, type TestAgent } from '../../helpers/test-agent.ts';

const asBrowser = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8',
};

const hostile = '<img src=x onerror="alert(1)"></h1><script>alert(2)</script> & "quoted" \u202e';

/** The settings of an agent whose door is shut to strangers. */
const guarded = {
  auth: {
    required: true,
    providers: [{ type: 'static_token', settings: { token: 'canary-of-a-token' } }],
  },
};

function start(description = 'Handles refunds'): Promise<TestAgent> {
  return startTestAgent({ ...guarded, description });
}

describe('GET /', () => {
  it("reads no Accept that is longer than a browser's", async () => {
    const agent = await start();
    const type = async (accept: string) =>
      (await agent.get('/', { accept })).headers.get('content-type');
    const padded = (length: number): string => 'text/html, a/'.padEnd(length, 'b');
    expect([await type(padded(1_024)), await type(padded(1_025))]).toEqual([
      'text/html; charset=utf-8',
      'application/json; charset=utf-8',
    ]);
  });

  it.each(['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0.5, */*'])(
    'answers %s with the card, like the well-known path',
    async (accept) => {
      const agent = await start();
      const [front, card] = [
        await agent.get('/', { accept }),
        await agent.get('/.well-known/agent-card.json', { accept }),
      ];
      expect(front).toMatchObject({ status: 200, body: card.body });
      for (const name of ['content-type', 'cache-control', 'etag']) {
        expect([name, front.headers.get(name)]).toEqual([name, card.headers.get(name)]);
      }
      expect(front.headers.get('vary')).toBe('Accept, A2A-Version');
      const known = { accept, 'if-none-match': front.headers.get('etag') ?? '' };
      expect((await agent.get('/', known)).status).toBe(304);
      const modern = { accept, 'a2a-version': '1.0' };
      expect((await agent.get('/', modern)).body).toEqual(
        (await agent.get('/.well-known/agent-card.json', modern)).body,
      );
    },
  );

  it('answers a browser with a read-only page, with or without authentication', async () => {
    const agent = await start();
    const { status, headers, body } = await agent.get('/', asBrowser);
    expect({ status, ...Object.fromEntries(headers) }).toMatchObject({
      status: 200,
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      vary: 'Accept, A2A-Version',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      ),
    });
    expect(body).not.toMatch(/<script|style=|javascript:|canary/);
    const head = await agent.request('HEAD', '/', { headers: asBrowser });
    expect({
      status: head.status,
      body: head.body,
      type: head.headers.get('content-type'),
    }).toEqual({ status: 200, body: '', type: 'text/html; charset=utf-8' });
  });

  it('refuses POST', async () => {
    const agent = await start();
    expect((await agent.rpc('tasks/get', { id: 'x' })).status).toBe(401);
  });
});

describe('the page in a browser', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await TestBrowser.launch();
  });
  afterAll(() => browser.close());

  it.each([
    ['light', 1280],
    ['light', 320],
    ['dark', 1280],
    ['dark', 320],
  ] as const)('can be read in %s at %i pixels', async (scheme, width) => {
    const agent = await start();
    const { page } = await browser.page({ scheme, width });
    await page.goto(agent.url);
    expect(await page.title()).toBe('till · Holdpoint');
    expect(await missingOf(page)).toEqual([]);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('till');
  });

  it('links to the card, the description and the health, with the keyboard only', async () => {
    const agent = await start();
    const { page } = await browser.page();
    for (const [index, path] of [
      '/.well-known/agent-card.json',
      '/openapi.json',
      '/healthz',
    ].entries()) {
      await page.goto(agent.url);
      for (let press = 0; press <= index; press += 1) await page.keyboard.press('Tab');
      const outline = await page.evaluate(() => {
        const { document, getComputedStyle } = globalThis as any;
        return getComputedStyle(document.activeElement).outlineWidth as string;
      });
      expect(outline).toBe('2px');
      await page.keyboard.press('Enter');
      await page.waitForURL(agent.url + path);
    }
  });

  it("shows markup in the agent's name as text", async () => {
    const agent = await start(hostile);
    const { page } = await browser.page();
    let alerts = 0;
    page.on('dialog', (dialog) => {
      alerts += 1;
      void dialog.dismiss();
    });
    await page.goto(agent.url);
    expect(await page.locator('p').first().textContent()).toBe(hostile);
    expect(await page.locator('img, script').count()).toBe(0);
    expect(alerts).toBe(0);
  });
});
