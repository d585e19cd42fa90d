import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { onTestFinished } from 'vitest';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';
import { listed, puppetConfig } from './puppet.ts';

/** The generations of MCP in which a call may be continued as a task. */
export type Generation = '2025-11-25' | '2026-07-28';

/** Answers a request with its params, at once or by a promise, or throws a JSON-RPC error. */
type Play = (params: any) => object | Promise<object>;

const greetings: Record<Generation, Record<string, Play>> = {
  '2025-11-25': {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {}, tasks: { cancel: {}, requests: { tools: { call: {} } } } },
      serverInfo: { name: 'works', version: '1' },
    }),
  },
  '2026-07-28': {
    'server/discover': () => ({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      ttlMs: 0,
      cacheScope: 'private',
    }),
  },
};

/** A state of a task in the words of a generation; its server asks for requests without a pause. */
export function stateIn(generation: Generation, taskId: unknown, more: object = {}): object {
  const times = { createdAt: '2026-01-05T10:00:00Z', lastUpdatedAt: '2026-01-05T10:00:00Z' };
  const pace =
    generation === '2025-11-25'
      ? { ttl: 600_000, pollInterval: 0 }
      : { ttlMs: 600_000, pollIntervalMs: 0 };
  return { taskId, status: 'working', ...times, ...pace, ...more };
}

/** A JSON-RPC error. */
export class RpcFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * A server of one generation that continues calls of its tool `build` as tasks. `plays` replace its answers by method,
 * also while it runs.
 */
export async function taskServer(generation: Generation, plays: Record<string, Play> = {}) {
  const asked: { method: string; taskId?: unknown; params: any }[] = [];
  let isDown = false;
  const usual: Record<string, Play> = {
    ...greetings[generation],
    'tools/list': () => ({
      tools: [listed('build', { execution: { taskSupport: 'required' } }), listed('look')],
    }),
    'tools/call': ({ task }) => {
      if (generation === '2026-07-28') return { resultType: 'task', ...stateIn(generation, 'w-1') };
      if (task === undefined) throw new RpcFailure(-32601, 'build needs a task');
      return { task: stateIn(generation, 'w-1') };
    },
    'tasks/get': ({ taskId }) => stateIn(generation, taskId),
    'tasks/cancel': ({ taskId }) => stateIn(generation, taskId, { status: 'cancelled' }),
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (isDown) return void response.writeHead(503).end();
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    if (id === undefined) return void response.writeHead(202).end();
    const { taskId } = params ?? {};
    asked.push({ method, params, ...(taskId === undefined ? {} : { taskId }) });
    const answer = (message: object) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
    };
    try {
      const play = plays[method] ?? usual[method];
      if (play === undefined) throw new RpcFailure(-32601, 'no such method');
      const said = await play(params);
      answer({ result: typeof said === 'object' ? { resultType: 'complete', ...said } : said });
    } catch (error) {
      const { code, message } = error as RpcFailure;
      answer({ error: { code, message } });
    }
  };
  const server = createServer((request, response) => void serve(request, response));
  const url = `${await listenOnLoopback(server)}/mcp`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { command: _, ...shop } = puppetConfig({ name: 'works', url, args: [] });
  return {
    ...{ url, shop, asked, plays },
    /** Requests about tasks, in order. */
    about: () => asked.flatMap(({ method, taskId }) => (taskId === undefined ? [] : [method])),
    turn: (off: boolean) => void (isDown = off),
  };
}
