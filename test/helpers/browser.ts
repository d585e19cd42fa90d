import type { Browser, ConsoleMessage, Locator, Page } from 'playwright-core';
import { expect, onTestFinished, vi } from 'vitest';
import { openBrowser } from './open-browser.ts';

/** How a page is looked at. */
interface View {
  scheme?: 'light' | 'dark';
  width?: number;
  height?: number;
  /** Whether it is a phone, on which fingers press. */
  isTouched?: boolean;
  /** Whether the page is the product's own, and is to complain of nothing. */
  isOwn?: boolean;
  /** Whether certificates that nobody trusts are accepted. */
  isUntrusted?: boolean;
}

/** A real browser without a network, for the pages of an agent. */
export class TestBrowser {
  readonly #browser: Browser;
  readonly close: () => Promise<void>;

  private constructor(browser: Browser, close: () => Promise<void>) {
    this.#browser = browser;
    this.close = close;
  }

  /** `names` are hosts that lead to this machine, as a hostile name server would have it. */
  static async launch(names: readonly string[] = []): Promise<TestBrowser> {
    const { browser, close } = await openBrowser(names);
    return new TestBrowser(browser, close);
  }

  /**
   * Opens an empty page that is closed after the test. The test fails when the page logs an error, throws, breaks its
   * own policy or asks another host for anything.
   */
  async page({
    scheme = 'light',
    width = 1280,
    height = 800,
    isTouched = false,
    isOwn = true,
    isUntrusted = false,
  }: View = {}): Promise<TestPage> {
    const context = await this.#browser.newContext({
      colorScheme: scheme,
      ignoreHTTPSErrors: isUntrusted,
      viewport: { width, height },
      ...(isTouched ? { hasTouch: true, isMobile: true } : {}),
    });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    const complaints: string[] = [];
    await page.exposeFunction('complainOfViolation', (text: string) => complaints.push(text));
    await page.addInitScript(() => {
      const { document, complainOfViolation } = globalThis as any;
      document.addEventListener('securitypolicyviolation', (event: any) =>
        complainOfViolation(`broke ${event.violatedDirective}: ${event.blockedURI}`),
      );
    });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(complaintOf(message));
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => {
      const { hostname } = new URL(request.url());
      if (hostname !== '127.0.0.1') complaints.push(`asked for ${request.url()}`);
    });
    onTestFinished(async () => {
      await context.close();
      if (isOwn) expect(unforgiven(complaints)).toEqual([]);
    });
    return { page, complaints };
  }
}

/** What each page, by its complaints, may complain of. */
const forgiven = new WeakMap<string[], string[]>();

/**
 * Lets a page complain of these, now or whenever its browser comes to it: refusals as `400` or `400 http://…`, and
 * any other text that contains the words, such as `ERR_CONNECTION_REFUSED`.
 */
export function forgive(complaints: string[], what: readonly string[]): void {
  forgiven.set(complaints, [...(forgiven.get(complaints) ?? []), ...what]);
}

/** Complaints that nothing forgives. */
function unforgiven(complaints: string[]): string[] {
  const allowed = forgiven.get(complaints) ?? [];
  return complaints.filter((text) => {
    const [, status, url] = /status of (\d{3}) \([^)]*\) (\S+)$/.exec(text) ?? [];
    if (status === undefined) return !allowed.some((words) => text.includes(words));
    return !allowed.includes(status) && !allowed.includes(`${status} ${url}`);
  });
}

/** Waits until a page has complained of a refusal, which a browser does when it comes to it, and forgets that. */
export async function refused(complaints: string[], status: number): Promise<void> {
  await vi.waitFor(
    () => expect(complaints).toEqual([expect.stringContaining(`status of ${status} `)]),
    { timeout: 20_000, interval: 50 },
  );
  complaints.length = 0;
}

/** What a page logs as an error; of what it could not load also the address, which the browser does not put in words. */
function complaintOf(message: ConsoleMessage): string {
  const text = message.text();
  return text.startsWith('Failed to load resource') ? `${text} ${message.location().url}` : text;
}

/** A page, and what it has complained of so far; a test that provokes it forgives that. */
export interface TestPage {
  page: Page;
  complaints: string[];
}

/** Scrolls through an open call until each of its parts was in view; resolves with the button that approves it. */
export async function seeWhole(page: Page): Promise<Locator> {
  const approve = page.getByRole('article').getByRole('button', { name: /^Approve/ });
  const show = page.getByRole('button', { name: 'Show it' });
  await vi.waitFor(
    async () => {
      if (await show.isVisible()) await show.click({ timeout: 500 }).catch(() => undefined);
      expect(await approve.isEnabled()).toBe(true);
    },
    { timeout: 20_000, interval: 50 },
  );
  return approve;
}

/**
 * Waits until a page has its final look: in the middle of a fade a colour is neither of the two that a
 * person sees, and a call that has just appeared takes no decision yet, which pales its buttons.
 */
export async function atRest(page: Page): Promise<void> {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  const reject = page.getByRole('button', { name: 'Reject', exact: true });
  if (await reject.isVisible()) await reject.and(page.locator(':enabled')).waitFor();
}

/**
 * Says what is missing of what every page needs: a language, a title, one first heading, names for what can be
 * pressed, text with enough contrast, and nothing that is wider than the window.
 */
export async function missingOf(page: Page): Promise<string[]> {
  await atRest(page);
  return page.evaluate(() => {
    // The types of a browser are not those of the daemon.
    const { document, getComputedStyle } = globalThis as any;
    const missing: string[] = [];
    const root = document.documentElement;
    if (root.lang === '') missing.push('a language');
    if (document.title === '') missing.push('a title');
    if (document.querySelectorAll('h1').length !== 1) missing.push('one first heading');
    if (document.querySelector('main') === null) missing.push('a main part');
    if (root.scrollWidth > root.clientWidth) missing.push(`room for ${root.scrollWidth} pixels`);
    const named = 'a, button, input, select, [role=button], [tabindex="0"]';
    for (const element of document.querySelectorAll(named)) {
      const label = element.labels?.[0]?.textContent ?? '';
      const name = element.getAttribute('aria-label') ?? (element.textContent || label);
      if (name.trim() === '') missing.push(`a name for ${element.outerHTML.slice(0, 80)}`);
    }
    const channels = (color: string): number[] => (color.match(/[\d.]+/g) ?? []).map(Number);
    const light = (color: string): number => {
      const [red = 0, green = 0, blue = 0] = channels(color).map((value) => {
        const part = value / 255;
        return part <= 0.039_28 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const ground = (element: any): string => {
      if (element === null) return 'rgb(255, 255, 255)';
      const { backgroundColor } = getComputedStyle(element);
      return channels(backgroundColor)[3] === 0 ? ground(element.parentElement) : backgroundColor;
    };
    for (const element of document.body.querySelectorAll('*')) {
      const says = [...element.childNodes].some(
        (node: any) => node.nodeType === 3 && node.textContent?.trim() !== '',
      );
      if (!says || !element.checkVisibility()) continue;
      const pair = [light(getComputedStyle(element).color), light(ground(element))];
      const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
      if (ratio < 4.5) {
        missing.push(`contrast of "${element.textContent?.slice(0, 30)}": ${ratio.toFixed(2)}`);
      }
    }
    return missing;
  });
}
