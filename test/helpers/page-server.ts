import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AgentJson } from '../../src/http/wire/dashboard/agent-json.ts';
import type { DashboardEvents } from '../../src/http/wire/dashboard/dashboard-events.ts';
import type { DeferralJson } from '../../src/http/wire/dashboard/held-call-json.ts';
import { buildPage, sendPageFile } from './built-page.ts';
import { anOverview } from './overview-fixtures.ts';

/** What a route answers: JSON with a status. */
export interface Answer {
  status?: number;
  body?: unknown;
}

type Route = (body: any, url: URL) => Answer | Response | Promise<Answer | Response>;

/**
 * A server for the page that sends what a test wants, however hostile or broken: the page must handle all of it.
 * Its agents and deferrals stand in the open; `emit` tells every stream.
 */
export class PageServer {
  agents: AgentJson[] = [];
  deferrals: DeferralJson[] = [];
  unasked: string[] = [];
  /** Milliseconds by which its clock is ahead of the browser's. */
  ahead = 0;
  /** The token it asks for; `null` for none. */
  token: string | null = null;
  /** `POST /api/…` in order, with their bodies. */
  readonly posts: { path: string; body: any }[] = [];
  /** Routes of a test's own, such as `POST /api/agents/a/start`. */
  readonly routes = new Map<string, Route>();
  /** Receives a request that the page has aborted, or left, before it was answered. */
  givenUp: (method: string, url: URL) => void = () => undefined;
  readonly #streams = new Set<ServerResponse>();
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  #events = 0;
  /** `Last-Event-ID` of each stream that was opened. */
  readonly resumed: string[] = [];

  /** Serves the page on a port of its own. */
  async listen(): Promise<void> {
    await buildPage();
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  get streams(): number {
    return this.#streams.size;
  }

  /** Tells every stream. */
  emit<Name extends keyof DashboardEvents>(name: Name, data: DashboardEvents[Name]): void {
    this.#events += 1;
    for (const stream of this.#streams) {
      stream.write(`id: ${this.#events}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    }
  }

  /** Ends every stream, as a restart of the dashboard does. */
  dropStreams(): void {
    for (const stream of this.#streams) stream.destroy();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    if (!url.pathname.startsWith('/api/')) return sendPageFile(url.pathname, response);
    // Every answer, the stream's too, is of one clock.
    response.setHeader('date', new Date(Date.now() + this.ahead).toUTCString());
    if (this.token !== null && request.headers.authorization !== `Bearer ${this.token}`) {
      return this.#json(response, 401, { error: 'unauthorized', code: 'unauthorized' });
    }
    if (url.pathname === '/api/events') return this.#stream(request, response);
    response.once('close', () => {
      if (!response.writableEnded) this.givenUp(request.method ?? '', url);
    });
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const body: unknown = text === '' ? {} : JSON.parse(text);
    if (request.method !== 'GET') this.posts.push({ path: url.pathname, body });
    const route = this.routes.get(`${request.method} ${decodeURIComponent(url.pathname)}`);
    const answer = await (route ?? (() => this.#own(url.pathname)))(body, url);
    if (answer instanceof Response) response.end(await answer.text());
    else this.#json(response, answer.status ?? 200, answer.body ?? {});
  }

  #own(path: string): Answer {
    if (path === '/api/workspace') {
      return {
        body: {
          directory: '/home/ann/agents',
          version: '0.1.0',
          token_required: this.token !== null,
        },
      };
    }
    if (path === '/api/agents' || path === '/api/agents/rescan') return { body: this.agents };
    if (path === '/api/deferrals') {
      return {
        body: {
          deferrals: this.deferrals,
          total: this.deferrals.length,
          unasked: this.unasked,
          now: new Date(Date.now() + this.ahead).toISOString(),
        },
      };
    }
    if (path === '/api/grants') return { body: { grants: [], unasked: [] } };
    if (path === '/api/overview') return { body: anOverview() };
    if (path === '/api/outcomes') return { body: { open: [], settled: [], unasked: [] } };
    if (/^\/api\/agents\/[^/]+\/limits$/.test(path)) return { body: { limits: [] } };
    if (path === '/api/deferrals/decided') return { body: { decided: [], unasked: [] } };
    if (/^\/api\/agents\/[^/]+\/audit$/.test(path)) return { body: { events: [] } };
    // What was decided on has nothing to tell yet.
    if (this.posts.some((post) => isAnswered(post, path))) {
      return { body: { timeline: [] } };
    }
    return { status: 404, body: { error: 'There is nothing here.' } };
  }

  #stream(request: IncomingMessage, response: ServerResponse): void {
    this.resumed.push(String(request.headers['last-event-id'] ?? ''));
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(': hello\n\n');
    this.#streams.add(response);
    const beat = setInterval(() => response.write(':\n\n'), 4_000);
    response.once('close', () => {
      clearInterval(beat);
      this.#streams.delete(response);
    });
  }

  #json(response: ServerResponse, status: number, body: unknown): void {
    response.writeHead(status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
    });
    response.end(JSON.stringify(body));
  }
}

/** Whether a request decided on the task of a path, alone or among others. */
function isAnswered(post: { path: string; body: any }, path: string): boolean {
  if (post.path === `${path}/decisions`) return true;
  const agent = post.path.replace(/deferrals\/decisions$/, '');
  const decisions: { task_id: string }[] = post.body?.decisions ?? [];
  return decisions.some(({ task_id }) => `${agent}tasks/${task_id}` === path);
}
