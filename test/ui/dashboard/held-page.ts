import type { Page } from 'playwright-core';
import type { TestBrowser } from '../../helpers/browser.ts';
import { HeldAnswers } from '../../helpers/held-answers.ts';
import type { Answer, PageServer } from '../../helpers/page-server.ts';
import { startPageServer } from './page-browser.ts';

/** A request, as `POST /api/agents/refunds/start`, with its body; or one that the page has given up. */
type Asked = readonly [request: string, body?: unknown];

/** A page of the dashboard with a server that answers some of its requests when a test lets it. */
export interface HeldPage {
  page: Page;
  complaints: string[];
  server: PageServer;
  /** What the page has asked of the routes that wait, in order. */
  asked: Asked[];
  /** What it should have asked of them by now. */
  due: Asked[];
  /** Has another route wait from now on. */
  hold: (route: string) => void;
  /** Answers what the page has asked of the route, as soon as it has asked. */
  answer: (route: string, answer: Answer | Response) => Promise<void>;
}

interface HeldPageOptions {
  browser: TestBrowser;
  /** The view, such as `#/agents`. */
  view: string;
  /** Routes that wait, without what their addresses ask for. */
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
  const answers = new Map<string, HeldAnswers<Answer | Response>>();
  const hold = (route: string): void => {
    const waiting = new HeldAnswers<Answer | Response>();
    answers.set(route, waiting);
    server.routes.set(route, (body, { search }) => {
      asked.push(route.startsWith('GET') ? [route + search] : [route + search, body]);
      return waiting.ask();
    });
  };
  for (const route of held) hold(route);
  server.givenUp = (method, { pathname, search }) => {
    const route = `${method} ${pathname}`;
    if (answers.has(route)) asked.push([`gives up ${route}${search}`]);
  };
  const { page, complaints } = await browser.page();
  await prepare?.(page);
  await page.goto(server.url + view);
  return {
    ...{ page, complaints, server, asked, due: [], hold },
    answer: async (route, answer) => answers.get(route)?.answer(answer),
  };
}
