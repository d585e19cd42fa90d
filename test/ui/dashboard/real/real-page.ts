import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { TestBrowser } from '../../../helpers/browser.ts';
import { buildPage } from '../../../helpers/built-page.ts';
import { type Later, startDashboard } from '../../../helpers/dashboard-process.ts';

/** What the tests of a file share, undone in turn when the last one is over. */
export class Shared {
  readonly #undo: (() => void | Promise<void>)[] = [];
  readonly later: Later = (undo) => void this.#undo.push(undo);
  browser!: TestBrowser;
  readonly workspace = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-workspace-')));

  /** Starts a browser, and the dashboard of the workspace current by now. */
  async open(env: Record<string, string> = {}) {
    await buildPage();
    this.browser = await TestBrowser.launch();
    this.later(() => this.browser.close());
    return startDashboard(this.workspace, { env, later: this.later });
  }

  async close(): Promise<void> {
    for (const undo of this.#undo.toReversed()) await undo();
    rmSync(this.workspace, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The name of what has the focus. */
export function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const { document } = globalThis as any;
    let element = document.activeElement;
    while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
    const label = element?.getAttribute('aria-label') ?? element?.labels?.[0]?.textContent;
    return (label ?? element?.textContent ?? '').trim();
  });
}

/** Presses Tab until the element with this name has the focus, as a user without a mouse does. */
export async function tabTo(page: Page, name: string | RegExp, most = 80): Promise<void> {
  const passed: string[] = [];
  for (let pressed = 0; pressed < most; pressed += 1) {
    const here = await focused(page);
    if (typeof name === 'string' ? here === name : name.test(here)) return;
    passed.push(here);
    await page.keyboard.press('Tab');
  }
  throw new Error(`no way to ${String(name)} with Tab, only past ${passed.join(', ')}`);
}
