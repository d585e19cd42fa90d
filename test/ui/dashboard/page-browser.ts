import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { onTestFinished, vi } from 'vitest';
import { PageServer } from '../../helpers/page-server.ts';

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

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

/** What axe-core finds on a page, one line each. */
export async function axeFindings(page: Page): Promise<string[]> {
  // In the middle of a fade a colour is neither of the two that a person sees.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  // A call that has just appeared takes no decision yet, which its buttons show.
  const approve = page.locator('[data-key=a]');
  if (await approve.isVisible()) await approve.and(page.locator(':enabled')).waitFor();
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { axe } = globalThis as any;
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
    const { violations } = await axe.run({ runOnly: tags });
    return violations.flatMap(({ id, nodes }: any) =>
      nodes.map(
        ({ html, failureSummary }: any) => `${id}: ${html.slice(0, 160)} ${failureSummary}`,
      ),
    );
  });
}

/** The first thing on a page that is wider than it; `null` when nothing is. */
export function overflowOf(page: Page): Promise<string | null> {
  return page.evaluate(() => {
    const { document } = globalThis as any;
    const root = document.documentElement;
    return root.scrollWidth > root.clientWidth ? `${root.scrollWidth} > ${root.clientWidth}` : null;
  });
}
