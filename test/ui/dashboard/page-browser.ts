import type { Page } from 'playwright-core';
import { onTestFinished, vi } from 'vitest';
import { PageServer } from '../../helpers/page-server.ts';

/** Serves the page until the test ends. */
export async function startPageServer(): Promise<PageServer> {
  const server = new PageServer();
  await server.listen();
  onTestFinished(() => server.close());
  return server;
}

/** Waits until the expectations hold, for as long as a slow machine may need. */
export function eventually(expectations: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(expectations, { timeout: 20_000, interval: 50 });
}

/** The first thing on a page that is wider than it; `null` when nothing is. */
export function overflowOf(page: Page): Promise<string | null> {
  return page.evaluate(() => {
    const { document } = globalThis as any;
    const root = document.documentElement;
    return root.scrollWidth > root.clientWidth ? `${root.scrollWidth} > ${root.clientWidth}` : null;
  });
}
