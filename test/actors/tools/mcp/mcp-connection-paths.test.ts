import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import type { AnyActorRef } from 'xstate';
import { connectionMachine } from '../../../../src/machines/channels/connection-machine.ts';
import { walkChart } from '../../../helpers/chart-walk.ts';
import {
  carries,
  type LinkedService,
  Openings,
  ofEach,
  refusedForGood,
} from '../../../helpers/connection-happenings.ts';
import { listenOnLoopback } from '../../../helpers/listen-on-loopback.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { connect, listed, PuppetFolder, puppetConfig } from './puppet.ts';

const results: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'shop', version: '1' },
  },
  'tools/list': { tools: [listed('echo')] },
  'tools/call': { content: [{ type: 'text', text: 'here' }] },
};

/** An MCP server over HTTP that initializes when a test lets it, and keeps the event stream of each session open. */
async function openServer(actors: readonly AnyActorRef[]) {
  const openings = new Openings();
  const clock = new ManualClock(0);
  const news = new Set<ServerResponse>();
  const refusals = new Map<string, number>();
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      news.add(response);
      response.on('close', () => news.delete(response));
      return;
    }
    const { id, method } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    if (method === 'initialize') await openings.hold();
    if (method === 'server/discover') return void response.writeHead(400).end();
    const refusal = refusals.get(method);
    refusals.delete(method);
    if (id === undefined) return void response.writeHead(202).end();
    if (refusal !== undefined) return void response.writeHead(refusal).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
  };
  const server = createServer((request, response) => void serve(request, response));
  const url = `${await listenOnLoopback(server)}/mcp`;
  const { command: _, ...shop } = puppetConfig({ url, args: [] });
  const { call, stop } = connect(new PuppetFolder([]), [shop], { clock, random: () => 1 });
  return {
    ...{ actors, openings, clock, news, stop },
    refuse: (isLasting: boolean) => void refusals.set('initialize', isLasting ? 401 : 500),
    async breakOff(isLasting: boolean) {
      expect(await call('shop__echo')).toBe('here');
      refusals.set('tools/call', isLasting ? 401 : 404);
      expect(await call('shop__echo')).toContain('shop__echo failed: its server');
    },
  } satisfies LinkedService & { news: unknown };
}

describe('the shortest paths of a connection to an MCP server', () => {
  walkChart(connectionMachine, { ...ofEach, ...refusedForGood(true) }, openServer, {
    passing: ['draining.opening', 'draining.pausing'],
    look: ({ news }, { value }) => expect(news.size).toBe(carries(value) ? 1 : 0),
  });
});
