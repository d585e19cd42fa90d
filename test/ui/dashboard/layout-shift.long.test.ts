import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { TestBrowser } from '../../helpers/browser.ts';
import { tellStory } from '../../helpers/page-story.ts';
import { startPageServer } from './page-browser.ts';

let browser: TestBrowser;

beforeAll(async () => {
  browser = await TestBrowser.launch();
});
afterAll(() => browser.close());

/** Adds up what moves on a page, from its next address on. */
async function watchShift(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const { PerformanceObserver } = globalThis as any;
    let sum = 0;
    const add = (entries: any[]) => entries.forEach(({ value }) => (sum += value));
    const observer = new PerformanceObserver((list: any) => add(list.getEntries()));
    observer.observe({ type: 'layout-shift', buffered: true });
    Object.assign(globalThis, {
      shifted() {
        add(observer.takeRecords());
        return sum;
      },
    });
  });
}

/** The layout shift of a page so far, once its current state has been painted. */
function shiftOf(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const { requestAnimationFrame, shifted } = globalThis as any;
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let painted = 0; painted < 3; painted += 1) await frame();
    return shifted();
  });
}

it.each([360, 768, 1_280])(
  'almost nothing moves when the rest arrives late, %i wide',
  async (width) => {
    const server = await startPageServer();
    tellStory(server);
    for (const route of ['#/agents', '#/health', '#/approvals', '#/agents/refunds/logs']) {
      const { page } = await browser.page({ width });
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      await watchShift(page);
      await page.route('**/api/**', async (held) => {
        await released;
        await held.continue();
      });
      await page.goto(server.url + route);
      await page.getByText('Loading …').waitFor();
      await shiftOf(page);
      release();
      await page.getByText('Loading …').waitFor({ state: 'detached' });
      await page.getByText('0.1.0 · workspace').waitFor({ state: 'attached' });
      const shift = await shiftOf(page);
      expect({ route, isSteady: shift <= 0.02, shift }).toEqual({ route, isSteady: true, shift });
    }
  },
);

it('nothing of a log moves that is read before its agent is known', async () => {
  const server = await startPageServer();
  tellStory(server);
  const { page } = await browser.page({ width: 768 });
  await watchShift(page);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  await page.route('**/api/agents', async (held) => {
    await released;
    await held.continue();
  });
  const read = page.waitForResponse((response) => response.url().includes('/audit'));
  await page.goto(`${server.url}#/audit/refunds`);
  await (await read).finished();
  await shiftOf(page);
  release();
  await page.getByText('/.well-known/service-audit-keys').waitFor();
  expect(await shiftOf(page)).toBeLessThanOrEqual(0.02);
});
