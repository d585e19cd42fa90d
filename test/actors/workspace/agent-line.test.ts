import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createListener } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentConnection } from '../../../src/actors/agent-connection.ts';
import { AgentLine } from '../../../src/actors/workspace/agent-line.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { prompt } from '../../helpers/patient.ts';

async function lineTo(answer: RequestListener, isProven = true) {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/healthz') return void response.end('{}');
    seen.push(request.headers.authorization);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clock = new ManualClock(0);
  const line = openLine(server.address() as AddressInfo, isProven, clock);
  onTestFinished(async () => {
    await line.close();
    server.closeAllConnections();
    server.close();
  });
  return { line, seen, clock };
}

function openLine({ port }: AddressInfo, isProven: boolean, clock = new ManualClock(0)): AgentLine {
  const url = `http://127.0.0.1:${port}`;
  const endpoint = { url, token: 'of-the-agent', isProof: () => isProven };
  return new AgentLine(new AgentConnection(endpoint, clock), clock);
}

const call = { method: 'GET', path: '/tasks', patience: 400 } as const;

describe('a connection to an unverified agent', () => {
  it.each<[string, RequestListener, string, string]>([
    ['hangs', () => undefined, 'slow', 'the agent did not respond in time'],
    [
      'sends half and hangs',
      (_, to) => void to.write('{'),
      'slow',
      'the agent did not respond in time',
    ],
    [
      'answers no JSON',
      (_, to) => void to.end('<html>'),
      'senseless',
      'the answer of the agent is not JSON',
    ],
    ['hangs up', (_, to) => void to.destroy(), 'unreachable', 'the connection to the agent broke'],
  ])('reports with a message that it %s', async (_, answer, code, message) => {
    const { line, seen, clock } = await lineTo(answer);
    const told = expect(line.json(call)).rejects.toMatchObject({ code, message });
    await vi.waitUntil(() => seen.length > 0, prompt);
    if (code === 'slow') clock.advance(call.patience);
    await told;
  });

  it('repeats a read that was disconnected, and no changing request', async () => {
    const asked: string[] = [];
    const { line } = await lineTo((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (asked.length === 1 || request.method === 'POST') response.destroy();
      else response.end('{"tasks":[]}');
    });
    expect(await line.json(call)).toEqual({ status: 200, body: { tasks: [] } });
    const decide = { ...call, method: 'POST', path: '/tasks/t1/cancel', body: {} } as const;
    await expect(line.json(decide)).rejects.toMatchObject({ code: 'unreachable' });
    expect(asked).toEqual(['GET /tasks', 'GET /tasks', 'POST /tasks/t1/cancel']);
  });

  it('sends its token to no process that took over the port', async () => {
    let isAgent = true;
    const seen: string[] = [];
    const server = createServer((request, response) => {
      if (request.url === '/healthz') return void response.end('{}');
      seen.push(String(request.headers.authorization));
      isAgent = false;
      response.destroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const line = new AgentLine(
      new AgentConnection({
        url: `http://127.0.0.1:${port}`,
        token: 'of-the-agent',
        isProof: () => isAgent,
      }),
      new ManualClock(0),
    );
    onTestFinished(() => line.close());
    await expect(line.json(call)).rejects.toMatchObject({ code: 'unreachable' });
    expect(seen).toEqual(['Bearer of-the-agent']);
  });

  it('stops reading an endless answer', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const { line } = await lineTo((_, response) => {
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', write);
      write();
    });
    await expect(line.json(call)).rejects.toMatchObject({
      ...{ code: 'senseless', message: 'the answer of the agent is too long' },
    });
    const stream = line.events(call);
    await expect(Array.fromAsync(stream)).rejects.toMatchObject({ code: 'senseless' });
  });

  it('returns a refusal unchanged', async () => {
    const { line } = await lineTo(
      (_, to) => void to.writeHead(500).end('{"error":"internal error","code":"internal_error"}'),
    );
    expect(await line.json(call)).toEqual({
      status: 500,
      body: { error: 'internal error', code: 'internal_error' },
    });
    await expect(Array.fromAsync(line.events(call))).rejects.toMatchObject({
      message: 'the agent answered with status 500: internal error',
    });
  });

  it('sends nothing to a listener that does not prove to be the agent', async () => {
    const { line, seen } = await lineTo((_, response) => void response.end('{}'), false);
    await expect(line.json(call)).rejects.toMatchObject({ code: 'unreachable' });
    expect(seen).toEqual([]);
  });

  it('handles a listener that is not HTTP', async () => {
    const server = createListener(
      (socket) => void socket.on('error', () => undefined).end('SSH-2.0\r\n'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const line = openLine(server.address() as AddressInfo, true);
    onTestFinished(async () => {
      await line.close();
      server.close();
    });
    await expect(line.json(call)).rejects.toMatchObject({ code: 'unreachable' });
  });

  it('sends the token of the approver instead of its own', async () => {
    const { line, seen } = await lineTo((_, response) => void response.end('{}'));
    await line.json(call);
    await line.json({ ...call, token: 'of-ann' });
    expect(seen).toEqual(['Bearer of-the-agent', 'Bearer of-ann']);
  });
});
