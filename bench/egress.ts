import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import { createEgress, type Egress } from '../src/actors/outbound/egress/egress.ts';
import type { Figure } from './figure.ts';
import { percentile } from './load.ts';

const requests = 3_000;

const scope = {
  taskId: 'bench',
  correlationId: 'bench',
  tags: { workflow_id: 'bench', workflow_execution_id: 'run-1' },
};

/** What the egress policy adds to a GET of 1 KB on loopback over a connection that is kept. */
export async function egressFigures(): Promise<Figure[]> {
  const server = createServer((_request, response) => void response.end('x'.repeat(1_024)));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://api.example.test:${(server.address() as AddressInfo).port}/`;
  const bare = new Agent({ connect: { lookup: (_name, _options, answer) => answer(null, here) } });
  const egress = anEgress();
  const within = (run: () => Promise<void>) => () => egress.within(scope, run);
  const ways = {
    'bare undici': () => ask(url, bare),
    'undici through the policy': within(() => ask(url, egress.dispatcher)),
    'bare fetch': () => fetched(globalThis.fetch, url.replace('api.example.test', '127.0.0.1')),
    'fetch through the policy': within(() => fetched(egress.fetch, url)),
  };
  try {
    const times = new Map<string, number[]>(Object.keys(ways).map((way) => [way, []]));
    for (let round = 0; round < requests; round += 1) {
      // In turn, so that other load of the machine affects all of them equally.
      for (const [way, run] of Object.entries(ways)) {
        const began = performance.now();
        await run();
        if (round >= requests / 10) times.get(way)?.push(performance.now() - began);
      }
    }
    return [...times].map(([way, measured]) => ({
      what: `egress: GET of 1 KB, ${way}`,
      measured: `p50 ${ms(percentile(measured, 0.5))}, p99 ${ms(percentile(measured, 0.99))}`,
      aim: '',
    }));
  } finally {
    await Promise.all([bare.destroy(), egress.close()]);
    server.close();
    server.closeAllConnections();
  }
}

const here = [{ address: '127.0.0.1', family: 4 }];

function anEgress(): Egress {
  return createEgress({
    mode: 'allowlist',
    allowedDomains: ['*.example.test'],
    allowPrivateIps: false,
    allowedPrivateCidrs: ['127.0.0.1/32'],
    propagateTo: ['*.example.test'],
    endpoints: [],
    record: () => undefined,
    lookup: () => Promise.resolve(here),
  });
}

async function ask(url: string, dispatcher: Dispatcher): Promise<void> {
  const { body } = await request(url, { dispatcher });
  await body.arrayBuffer();
}

async function fetched(fetch: typeof globalThis.fetch, url: string): Promise<void> {
  await (await fetch(url)).arrayBuffer();
}

function ms(milliseconds: number): string {
  return `${milliseconds.toFixed(3)} ms`;
}
