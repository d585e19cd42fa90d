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

/** The layout shift of a page so far, once it has been painted as it stands. */
function shiftOf(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const { requestAnimationFrame, shifted } = globalThis as any;
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let painted = 0; painted < 3; painted += 1) await frame();
    return shifted();
  });
}

it.each([360, 768, 1_280])(
  'moves next to nothing of what is there when the rest arrives late, %i wide',
  async (width) => {
    const server = await startPageServer();
    tellStory(server);
    for (const route of ['#/agents', '#/health', '#/approvals', '#/agents/refunds/logs']) {
      const { page } = await browser.page({ width });
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
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
