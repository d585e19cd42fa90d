import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { AskError, type AskedAgent, askAgent } from '../../../src/dashboard/reading/ask-agent.ts';
import { inspectCard } from '../../../src/dashboard/reading/inspect-card.ts';
import { readAgentUrl } from '../../../src/machines/card/read-agent-url.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';

const never = new AbortController().signal;

interface Foreign {
  agent: AskedAgent;
  asked: IncomingMessage[];
}

/** A foreign agent on this machine, under a name that leads to it. */
async function foreign(
  answer: RequestListener,
  changes: Partial<AskedAgent> = {},
): Promise<Foreign> {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(request, response);
  });
  const { port } = new URL(await listenOnLoopback(server));
  const agent = {
    ...{ url: new URL(`http://agent.test:${port}`), token: null },
    ...{ mayBeLoopback: true, closedPorts: [] },
    lookup: leadingTo('127.0.0.1'),
    ...changes,
  };
  return { agent, asked };
}

function leadingTo(...addresses: string[]): NonNullable<AskedAgent['lookup']> {
  let turn = 0;
  return () => {
    const address = addresses[Math.min(turn, addresses.length - 1)]!;
    turn += 1;
    return Promise.resolve([{ address, family: address.includes(':') ? 6 : 4 }]);
  };
}

const card = JSON.stringify({ name: 'x', url: 'https://x.example', protocolVersion: '0.3.0' });

async function problemOf({ agent }: Foreign): Promise<string> {
  const { cards } = await inspectCard(agent, never);
  expect(cards).toHaveLength(1);
  return cards[0]!.exchange.problem ?? '';
}

describe('an agent that a person has named', () => {
  it.each([
    ['10.0.0.1', true, 'agent.test resolves to a private address'],
    ['192.168.1.1', true, 'agent.test resolves to a private address'],
    ['169.254.169.254', true, 'agent.test resolves to a metadata address'],
    ['fd00:ec2::254', true, 'agent.test resolves to a metadata address'],
    ['0.0.0.0', true, 'agent.test resolves to an unspecified address'],
    ['::ffff:10.0.0.1', true, 'agent.test resolves to a private address'],
    [
      '127.0.0.1',
      false,
      'agent.test resolves to a loopback address; say that it may be on this machine to ask it',
    ],
  ])('at %s is not called (loopback %s)', async (address, mayBeLoopback, problem) => {
    const found = await foreign((_, response) => response.end(card), {
      ...{ lookup: leadingTo(address), mayBeLoopback },
    });
    expect(await problemOf(found)).toBe(problem);
    expect(found.asked).toHaveLength(0);
  });

  it.each([
    'http://10.0.0.1',
    'http://[::1]',
    'http://2130706433',
    'http://0x7f.1',
    'http://169.254.169.254',
  ])('by the address %s is not called', async (text) => {
    const agent = { url: new URL(text), token: null, mayBeLoopback: false, closedPorts: [] };
    expect(await problemOf({ agent, asked: [] })).toMatch(
      / is an? (private|loopback|metadata) address/,
    );
  });

  it('whose name resolves differently between requests is called at no private address', async () => {
    const found = await foreign((_, response) => response.end(card), {
      lookup: leadingTo('127.0.0.1', '10.0.0.1'),
    });
    const { cards } = await inspectCard(found.agent, never);
    expect(cards.map(({ exchange }) => exchange.problem ?? exchange.answer?.status)).toEqual([
      ...[200, 'agent.test resolves to a private address'],
    ]);
  });

  it.each(['http://127.0.0.1:1/', 'http://169.254.169.254/latest/meta-data', 'http://other.test/'])(
    'is not followed to %s',
    async (location) => {
      const found = await foreign((_, response) => response.writeHead(302, { location }).end());
      const { cards } = await inspectCard(found.agent, never);
      expect(cards.map(({ exchange, findings }) => [exchange.answer?.status, findings])).toEqual(
        ['', '0.3', '1.0'].map(() => [
          302,
          [{ severity: 'error', path: '', message: 'is answered with status 302' }],
        ]),
      );
      expect(found.asked.every(({ headers }) => headers.host?.startsWith('agent.test:'))).toBe(
        true,
      );
    },
  );

  it('that answers with 50 MB is cut', async () => {
    let sent = 0;
    const found = await foreign((_, response) => {
      const more = (): void => {
        while (sent < 50 * 1024 * 1024) {
          sent += 65_536;
          if (!response.write('x'.repeat(65_536))) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    expect(await problemOf(found)).toMatch(/agent\.test/);
    expect(sent).toBeLessThan(50 * 1024 * 1024);
  });

  it('that hangs is disconnected, like one that sends single bytes', async () => {
    const hanging = await foreign(() => undefined);
    const dripping = await foreign((_, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    for (const { agent } of [hanging, dripping]) {
      const call = { method: 'GET', path: '/', headers: {}, body: null, signal: never } as const;
      const asking = askAgent(agent, { ...call, patience: 300 }, async ({ body }) => {
        for await (const _ of body);
      });
      await expect(asking).rejects.toThrow(AskError);
    }
  });

  it('that answers without JSON or a card is reported', async () => {
    const bodies = ['<html>', '[]', '"x"', 'null'];
    const found = await Promise.all(
      bodies.map((body) => foreign((_, response) => response.end(body))),
    );
    const seen = await Promise.all(found.map(({ agent }) => inspectCard(agent, never)));
    expect(seen.map(({ cards }) => cards[0]!.findings[0]!.message)).toEqual([
      ...['is no JSON', 'is no JSON object', 'is no JSON object', 'is no JSON object'],
    ]);
  });

  it('receives the token, and errors mask it', async () => {
    const found = await foreign((_, response) => response.end(card), { token: 'canary-token' });
    const seen = await inspectCard(found.agent, never);
    expect(new Set(found.asked.map(({ headers }) => headers.authorization))).toEqual(
      new Set(['Bearer canary-token']),
    );
    expect(JSON.stringify(seen)).not.toContain('canary-token');
    expect(seen.cards[0]!.exchange.headers).toEqual({ Authorization: 'Bearer $TOKEN' });
    const names = new Set(found.asked.flatMap(({ headers }) => Object.keys(headers)));
    for (const name of names) expect(name).not.toMatch(/^(x-|traceparent|baggage|cookie)/);
  });

  it('is never the dashboard itself', async () => {
    const found = await foreign((_, response) => response.end(card));
    const closedPorts = [Number(found.agent.url.port)];
    expect(await problemOf({ ...found, agent: { ...found.agent, closedPorts } })).toMatch(/itself/);
    expect(found.asked).toHaveLength(0);
  });

  it('is called below its URL only', async () => {
    const { agent, asked } = await foreign((_, response) => response.end(card));
    for (const path of ['//other.test/', '@other.test/', 'x', '', '/\\..\\x:y@z']) {
      const call = { method: 'GET', path, headers: {}, body: null, signal: never } as const;
      const asking = askAgent(agent, { ...call, patience: 1_000 }, () => Promise.resolve());
      if (path.startsWith('/\\')) await asking;
      else await expect(asking).rejects.toThrow('the path must begin with one slash');
    }
    expect(asked.map(({ headers }) => headers.host)).toEqual([agent.url.host]);
  });
});

it('an agent is named by its URL or by that of its card', () => {
  expect(
    [
      'https://a.example/',
      'https://a.example/x/.well-known/agent-card.json?y#z',
      'https://a:b@a.example',
      'file:///etc/passwd',
      'nothing',
    ].map((text) => readAgentUrl(text)?.href ?? null),
  ).toEqual(['https://a.example/', 'https://a.example/x', null, null, null]);
});

it('the old card path is reported as old', async () => {
  const good = await foreign((request, response) => {
    if (request.url === '/.well-known/agent.json') {
      response.setHeader('Deprecation', 'true');
      response.setHeader('Link', '</.well-known/agent-card.json>; rel="successor-version"');
    }
    response.end(card);
  });
  expect((await inspectCard(good.agent, never)).legacy.findings).toEqual([]);
  const bad = await foreign((request, response) =>
    response.end(`${card}${request.url === '/.well-known/agent.json' ? ' ' : ''}`),
  );
  expect((await inspectCard(bad.agent, never)).legacy.findings.map(({ path }) => path)).toEqual([
    ...['Deprecation', 'Link', 'body'],
  ]);
});
