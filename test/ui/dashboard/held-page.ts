import type { Page } from 'playwright-core';
import type { TestBrowser } from '../../helpers/browser.ts';
import { HeldAnswers } from '../../helpers/held-answers.ts';
import type { Answer, PageServer } from '../../helpers/page-server.ts';
import { startPageServer } from './page-browser.ts';

/** A request, as `POST /api/agents/refunds/start`, with its body. */
type Asked = readonly [route: string, body?: unknown];

/** A page of the dashboard before a server that answers some of its requests when a test says so. */
export interface HeldPage {
  page: Page;
  complaints: string[];
  server: PageServer;
  /** What the page has asked of the routes that wait, in order. */
  asked: Asked[];
  /** What it should have asked of them by now. */
  due: Asked[];
  /** Answers what the page has asked of the route, as soon as it has asked. */
  answer: (route: string, answer: Answer) => Promise<void>;
}

interface HeldPageOptions {
  browser: TestBrowser;
  /** The view, such as `#/agents`. */
  view: string;
  /** Routes that wait. */
  held: readonly string[];
  /** Says what the server has; before the page is opened. */
  arrange: (server: PageServer) => void;
  /** Does something to the page before it is opened, such as to its clock. */
  prepare?: (page: Page) => Promise<void>;
}

/** Opens a page whose server holds what it is asked of some routes. */
export async function openHeldPage({
  browser,
  view,
  held,
  arrange,
  prepare,
}: HeldPageOptions): Promise<HeldPage> {
  const server = await startPageServer();
  arrange(server);
  const asked: Asked[] = [];
  const answers = new Map(held.map((route) => [route, new HeldAnswers<Answer>()]));
  for (const [route, waiting] of answers) {
    server.routes.set(route, (body) => {
      asked.push(route.startsWith('GET') ? [route] : [route, body]);
      return waiting.ask();
    });
  }
  const { page, complaints } = await browser.page();
  await prepare?.(page);
  await page.goto(server.url + view);
  const answer = async (route: string, what: Answer): Promise<void> =>
    answers.get(route)?.answer(what);
  return { page, complaints, server, asked, due: [], answer };
}
