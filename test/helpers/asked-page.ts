import { vi } from 'vitest';
import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { type Happenings, type PathOptions, walkPaths } from './chart-walk.ts';
import { listedAgent, workspaceApi } from './page-tasks.ts';
import { patient, prompt } from './patient.ts';
import { type PageServer, servePage } from './serve-page.ts';

/** A server of the page with the agent `refunds`, whose views are answered when a test says so. */
export interface AskedServer extends PageServer {
  /** What the page has asked and waits for, in order, such as `PUT /config {"content":"a"} over "1"`. */
  underWay(): string[];
  /** Answers the one request that begins with these words, as soon as it is under way. */
  answer(words: string, body: unknown, status?: number): Promise<void>;
  /** The same with a stream, which stays under way until it ends. */
  stream(words: string): Promise<AnswerStream>;
}

/** An answer that is written as a test goes. */
export interface AnswerStream {
  write(text: string): void;
  end(): void;
}

interface Asked {
  line: string;
  isAnswered: boolean;
  answer: (response: Response) => void;
  forget: () => void;
}

/**
 * Serves the page until the test is over.
 *
 * @param known answers to requests that are of no interest, such as `GET /api/schema`
 */
export async function serveAsked(
  known: Readonly<Record<string, unknown>> = {},
): Promise<AskedServer> {
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
      const own: Asked = { line, isAnswered: false, answer: resolve, forget };
      all.add(own);
      // A page that does not want the answer any more hangs up.
      socket.once('close', forget);
      return promise;
    }),
  );
  const find = (words: string) =>
    vi.waitUntil(
      () => [...all].find(({ line, isAnswered }) => !isAnswered && line.startsWith(words)),
      prompt,
    );
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
      asked.isAnswered = true;
      const encoder = new TextEncoder();
      let stream: ReadableStreamDefaultController<Uint8Array> | undefined;
      const body = new ReadableStream<Uint8Array>({ start: (made) => void (stream = made) });
      asked.answer(new Response(body, { headers: { 'Content-Type': 'text/event-stream' } }));
      return {
        write: (text) => stream?.enqueue(encoder.encode(text)),
        end: () => {
          asked.forget();
          stream?.close();
        },
      };
    },
  };
}

/**
 * Registers tests that walk every shortest path of a chart that a page runs. After each step `look` compares what the page
 * shows, and what it waits for, with what the chart says; two states that show the same wait for something else.
 */
export function walkAskedPage<World>(
  chart: AnyStateMachine,
  happenings: Happenings<World>,
  open: () => Promise<World>,
  look: (world: World, snapshot: AnyMachineSnapshot) => Promise<void>,
  options: Omit<PathOptions<World>, 'look'> = {},
): void {
  const begin = async () => {
    const world = await open();
    const lookAt = (snapshot: AnyMachineSnapshot) => look(world, snapshot);
    return { world, hasBegun: true, look: lookAt };
  };
  walkPaths(chart, happenings, begin, { ...options, interval: patient.interval });
}
