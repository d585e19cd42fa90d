import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeFindings } from '../../helpers/axe-findings.ts';
import { forgive, TestBrowser } from '../../helpers/browser.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { startDesk } from './browser-desk.ts';

let browser: TestBrowser;
beforeAll(async () => {
  [browser] = await Promise.all([TestBrowser.launch(), buildPage()]);
}, 60_000);
afterAll(() => browser.close());

describe('the installed approvals page', () => {
  it('has no installation error, and a worker for its own paths that stores nothing', async () => {
    const { url } = await startDesk();
    const { page, complaints } = await browser.page({ width: 360, height: 640 });
    forgive(complaints, ['401']);
    await page.goto(`${url}/approvals/`);
    const worker = await page.evaluate(async () => {
      const { navigator } = globalThis as any;
      const { scope, active } = await navigator.serviceWorker.ready;
      return { scope, script: active.scriptURL };
    });
    const base = `${url}/approvals/`;
    expect(worker).toEqual({ scope: base, script: `${base}service-worker.js` });
    const cdp = await page.context().newCDPSession(page);
    const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors');
    expect(installabilityErrors).toEqual([]);
    const { errors, manifest } = await cdp.send('Page.getAppManifest');
    expect(errors).toEqual([]);
    expect(manifest).toMatchObject({ startUrl: base, scope: base, display: 'kStandalone' });
    await page.getByText('Sign in to see the calls that wait for you.').waitFor();
    await page.reload();
    expect(await page.evaluate(() => (globalThis as any).caches.keys())).toEqual([]);
    const headers = await page.evaluate(async () => {
      const response = await fetch('./service-worker.js');
      return Object.fromEntries(response.headers);
    });
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      'content-type': 'text/javascript; charset=utf-8',
    });
    expect(headers).not.toHaveProperty('service-worker-allowed');
  });

  it.each(['light', 'dark'] as const)('states that it is offline (%s)', async (scheme) => {
    const { agent, url } = await startDesk();
    const { page, complaints } = await browser.page({ width: 360, height: 640, scheme });
    forgive(complaints, ['401', '503', 'ERR_CONNECTION_REFUSED']);
    await page.goto(`${url}/approvals/`);
    await page.evaluate(() => (globalThis as any).navigator.serviceWorker.ready);
    await page.getByText('Sign in to see the calls that wait for you.').waitFor();
    await agent.stop();
    await page.reload();
    expect(await page.getByRole('main').innerText()).toBe(
      'You are offline\n\nConnect this device, and load the page again to see the approvals.',
    );
    expect(await axeFindings(page)).toEqual([]);
  });
});
