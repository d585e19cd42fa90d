import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { forgive, seeWhole, TestBrowser } from '../../helpers/browser.ts';
import { buildPage } from '../../helpers/built-page.ts';
import { PushedBrowser, startPushService } from '../../helpers/fake-push-service.ts';
import { patient } from '../../helpers/patient.ts';
import { expectUsable, park, startDesk } from './browser-desk.ts';

let browser: TestBrowser;
beforeAll(async () => {
  [browser] = await Promise.all([TestBrowser.launch(), buildPage()]);
}, 60_000);
afterAll(() => browser.close());

describe('a push to the approvals page in a browser', () => {
  it.each(['light', 'dark'] as const)(
    'leads from the notification to the page and the decision in less than ten seconds (%s)',
    async (scheme) => {
      const service = await startPushService();
      const { agent, url } = await startDesk({ page: { push_services: [service.origin] } });
      const { page, complaints } = await browser.page({ width: 360, height: 640, scheme });
      // The page may ask for the call while the answer to a decision on it is on its way.
      forgive(complaints, ['401', '404']);
      const context = page.context();
      await page.goto(`${url}/approvals/`);
      await page.getByRole('link', { name: 'Sign in' }).click();
      await page.getByText('Nothing to approve').waitFor();
      await page.getByRole('heading', { name: 'Notifications on this device' }).waitFor();
      await expectUsable(page);
      // The browser has no push service without a network, so the test subscribes in its place and delivers the push.
      const device = new PushedBrowser(service.origin);
      const status = await page.evaluate(async (subscription) => {
        const { csrf } = (await (await fetch('./api/session')).json()) as { csrf: string };
        const headers = { 'content-type': 'application/json', 'x-holdpoint-csrf': csrf };
        const body = JSON.stringify(subscription);
        return (await fetch('./api/devices', { method: 'POST', headers, body })).status;
      }, device.subscription);
      expect(status).toBe(201);
      // A browser without a screen allows no notification, so the worker keeps the titles instead.
      const [worker] = context.serviceWorkers();
      await worker?.evaluate(() => {
        const { ServiceWorkerRegistration: registration } = globalThis as any;
        const titles: string[] = [];
        Object.assign(globalThis, { titles });
        registration.prototype.showNotification = async (title: string) => void titles.push(title);
      });
      const shown = async (): Promise<string[]> =>
        (await worker?.evaluate(() => (globalThis as any).titles)) ?? [];
      const cdp = await context.newCDPSession(page);
      const registrationId = new Promise<string>((resolve) => {
        cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
          const [one] = registrations;
          if (one !== undefined) resolve(one.registrationId);
        });
      });
      await cdp.send('ServiceWorker.enable');

      const began = performance.now();
      const { answer } = await park(agent, 't1', { order: 'A-1', amount: 5 });
      await vi.waitUntil(() => service.received.length > 0, patient);
      const [data = ''] = device.texts(service);
      expect(data).toBe('{"waiting":1}');
      await cdp.send('ServiceWorker.deliverPushMessage', {
        ...{ origin: url, registrationId: await registrationId, data },
      });
      await vi.waitUntil(async () => (await shown()).length > 0, patient);
      expect(await shown()).toEqual(['1 call is waiting for your approval']);
      await page.getByRole('list', { name: 'Waiting calls' }).getByRole('link').click();
      await page.getByRole('article').getByText('A-1').first().waitFor();
      await (await seeWhole(page)).click();
      await page.getByText('Approved.', { exact: true }).waitFor();
      const took = performance.now() - began;
      expect((await answer).body.status.state).toBe('completed');
      process.stdout.write(`from the wait to the decision: ${(took / 1_000).toFixed(1)} s\n`);
      expect(took).toBeLessThan(10_000);
    },
  );
});
