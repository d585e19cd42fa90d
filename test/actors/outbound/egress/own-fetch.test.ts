import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOwnFetch, EgressError } from '../../../../src/actors/outbound/egress/egress.ts';

/** A server on loopback and what was asked of it. */
async function aServer(answer: RequestListener) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.host} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

function anOwnFetch(url: string) {
  const own = createOwnFetch(new URL(url));
  onTestFinished(() => own.close());
  return own.fetch;
}

describe('the fetch of the daemon to itself', () => {
  it.each(['127.0.0.1', '0.0.0.0'])('reaches the daemon that listens at %s', async (host) => {
    const { port, asked } = await aServer((_, response) => response.end('here'));
    const url = `http://${host}:${port}`;
    const response = await anOwnFetch(url)(`${url}/tasks/a?b=1`, { method: 'POST', body: '{}' });
    expect([await response.text(), asked]).toEqual([
      'here',
      [`POST 127.0.0.1:${port} /tasks/a?b=1`],
    ]);
  });

  it('serves more than one held request at once', async () => {
    const held: (() => void)[] = [];
    const { port } = await aServer(({ url }, response) => {
      if (url === '/held') held.push(() => response.end('later'));
      else response.end('now');
    });
    const url = `http://127.0.0.1:${port}`;
    const fetch = anOwnFetch(url);
    const waiting = fetch(`${url}/held`);
    const quick = await fetch(`${url}/quick`);
    const text = await quick.text();
    for (const release of held) release();
    expect([text, await (await waiting).text()]).toEqual(['now', 'later']);
  });

  it('refuses every other origin, without a request', async () => {
    const other = await aServer((_, response) => response.end());
    const { port } = await aServer((_, response) => response.end());
    const fetch = anOwnFetch(`http://127.0.0.1:${port}`);
    const elsewhere = [
      `http://127.0.0.1:${other.port}/`,
      `http://localhost:${port}/`,
      `https://127.0.0.1:${port}/`,
      'http://169.254.169.254/',
    ];
    const answers = await Promise.allSettled(elsewhere.map((url) => fetch(url)));
    const why = 'is not the address of this daemon';
    expect({ answers, asked: other.asked }).toEqual({
      answers: ['127.0.0.1', 'localhost', '127.0.0.1', '169.254.169.254'].map((host) => ({
        status: 'rejected',
        reason: new EgressError({ host, why, mode: 'deny-all' }),
      })),
      asked: [],
    });
  });

  it('refuses a redirect, even to itself', async () => {
    const { port, asked } = await aServer((_, response) => {
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    const url = `http://127.0.0.1:${port}`;
    await expect(anOwnFetch(url)(url)).rejects.toThrow(
      'egress blocked: 127.0.0.1 answered with a redirect (mode=deny-all)',
    );
    expect(asked).toEqual([`GET 127.0.0.1:${port} /`]);
  });

  it('supports only http', () => {
    expect(() => createOwnFetch(new URL('https://127.0.0.1/'))).toThrow(
      new TypeError('the own address of the daemon must be http'),
    );
  });

  it.each([
    [200, true],
    [299, true],
    [300, false],
    [304, false],
    [399, false],
    [400, true],
    [404, true],
    [500, true],
  ])('returns an answer of %i: %s', async (status, isAnswer) => {
    const { port } = await aServer((_, response) => {
      response.writeHead(status).end(status === 304 ? undefined : 'here');
    });
    const url = `http://127.0.0.1:${port}`;
    const why = 'answered with a redirect';
    const [answer] = await Promise.allSettled([anOwnFetch(url)(url)]);
    expect(answer).toEqual(
      isAnswer
        ? { status: 'fulfilled', value: expect.objectContaining({ status }) }
        : {
            status: 'rejected',
            reason: new EgressError({ host: '127.0.0.1', why, mode: 'deny-all' }),
          },
    );
  });

  it('aborts its requests when it is closed, and sends nothing more', async () => {
    const arrived = Promise.withResolvers<void>();
    const { port, asked } = await aServer(() => arrived.resolve());
    const own = createOwnFetch(new URL(`http://127.0.0.1:${port}`));
    const held = own.fetch(`http://127.0.0.1:${port}/held`);
    await arrived.promise;
    await own.close();
    const ended = { status: 'rejected', reason: expect.any(TypeError) };
    expect(await Promise.allSettled([held, own.fetch(`http://127.0.0.1:${port}/`)])).toEqual([
      ended,
      ended,
    ]);
    expect(asked).toEqual([`GET 127.0.0.1:${port} /held`]);
  });
});
