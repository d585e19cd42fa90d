import type { Page } from 'playwright-core';
import { vi } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { forgive, type TestBrowser } from './browser.ts';
import { listedAgent, workspaceApi } from './page-tasks.ts';
import { prompt } from './patient.ts';
import { type PageServer, servePage } from './serve-page.ts';

/** The words that a request begins with, such as `POST /chat`, or a pattern of them. */
type Words = string | RegExp;

/** A server of the page with the agent `refunds`, whose views are answered when a test answers them. */
interface AskedServer extends PageServer {
  /** What the page has asked and waits for, in order, such as `PUT /config {"content":"a"} over "1"`. */
  underWay(): string[];
  /** Answers the first such request, as soon as it is under way. */
  answer(words: Words, body: unknown, status?: number): Promise<void>;
  /** The same with a stream, under way until it ends; the one that was begun already where there is one. */
  stream(words: Words): Promise<AnswerStream>;
}

/** An answer that is written as a test goes. */
interface AnswerStream {
  /** What it answers. */
  line: string;
  write(text: string): void;
  end(): void;
}

interface Asked {
  line: string;
  stream: AnswerStream | null;
  answer: (response: Response) => void;
  forget: () => void;
}

/** A view of the page with a server that answers when a test lets it. */
interface AskedPage {
  server: AskedServer;
  page: Page;
  /** Presses a button by its name. */
  press: (name: string) => Promise<void>;
  /** Answers with a refusal, of which the page may complain. */
  refuse: (words: Words, body: unknown, status: number) => Promise<void>;
}

/**
 * Opens a view such as `#/a2a`, until the test is over.
 *
 * @param known answers to requests that are of no interest, such as `GET /api/schema`
 * @param prepare does something to the page before it is opened
 */
export async function openAskedPage(
  browser: TestBrowser,
  view: string,
  known: Readonly<Record<string, unknown>> = {},
  prepare: (page: Page) => Promise<unknown> = () => Promise.resolve(),
): Promise<AskedPage> {
  const server = await serveAsked(known);
  const { page, complaints } = await browser.page();
  await prepare(page);
  await page.goto(`${server.url}/${view}`);
  return {
    server,
    page,
    press: (name) => page.getByRole('button', { name, exact: true }).click(),
    refuse: (words, body, status) => {
      forgive(complaints, [String(status)]);
      return server.answer(words, body, status);
    },
  };
}

async function serveAsked(known: Readonly<Record<string, unknown>>): Promise<AskedServer> {
  const all = new Set<Asked>();
  const server = await servePage(
    workspaceApi([listedAgent('refunds')], ({ pathname, search }, body, request) => {
      const asked = `${request.method} ${pathname.replace('/api/agents/refunds', '')}${search}`;
      if (asked in known) return known[asked];
      const over = request.headers['if-match'];
      const said = body === null ? [] : [JSON.stringify(body)];
      const line = [asked, ...said, ...(over === undefined ? [] : [`over ${over}`])].join(' ');
      const { promise, resolve } = Promise.withResolvers<Response>();
      const { socket } = request;
      const forget = () => {
        all.delete(own);
        socket.off('close', forget);
      };
      const own: Asked = { line, stream: null, answer: resolve, forget };
      all.add(own);
      // A page that does not want the answer any more hangs up.
      socket.once('close', forget);
      return promise;
    }),
  );
  const find = (words: Words) =>
    vi.waitUntil(() => {
      const isMeant = ({ line }: Asked) =>
        typeof words === 'string' ? line.startsWith(words) : words.test(line);
      return [...all].find(isMeant);
    }, prompt);
  return {
    ...server,
    underWay: () => [...all].map(({ line }) => line),
    answer: async (words, body, status = 200) => {
      const { answer, forget } = await find(words);
      forget();
      answer(Response.json(body, { status }));
    },
    stream: async (words) => {
      const asked = await find(words);
      asked.stream ??= beginStream(asked);
      return asked.stream;
    },
  };
}

function beginStream({ line, answer, forget }: Asked): AnswerStream {
  const encoder = new TextEncoder();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  answer(new Response(readable, { headers: { 'Content-Type': 'text/event-stream' } }));
  return {
    line,
    write: (text) => void writer.write(encoder.encode(text)),
    end: () => {
      forget();
      void writer.close();
    },
  };
}

/** Returns whether an element of the page has the focus, from which a keyboard user continues. */
export function hasFocus(page: Page): Promise<boolean> {
  return page.evaluate('document.activeElement !== document.body');
}

/** Returns what an actor that a chart has invoked was asked with; `undefined` where it does not run. */
export function inputOf({ children }: AnyMachineSnapshot, id: string): any {
  const snapshot = children[id]?.getSnapshot();
  return snapshot === undefined ? undefined : (snapshot as unknown as { input: unknown }).input;
}
