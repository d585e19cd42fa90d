import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeAgentFolder, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { Load, type Measured, measure, medianOf } from './load.ts';

const callers = 16;
const token = 'token-of-the-bench';

const guarded = `auth:
  required: true
  providers: [{type: static_token, name: ops, settings: {token_env: BENCH_TOKEN}}]
`;

/** Cost of all access checks for an admitted echo, compared with the same route without them, in one run. */
export async function doorFigures(): Promise<Figure[]> {
  const platform = await startPlatform();
  const open = makeAgentFolder();
  const closed = makeAgentFolder({ more: guarded });
  try {
    const plain = await startDaemon(open.directory);
    const behind = await startDaemon(closed.directory, {
      BENCH_TOKEN: token,
      SERVICE_ADMISSION_URL: platform.url,
      SERVICE_PLATFORM_TOKEN: 'platform-token',
    });
    const loads = [new Load(plain.url, callers), new Load(behind.url, callers, token)];
    const measured: Measured[][] = [[], []];
    for (const load of loads) await measure(callers, 1_000, () => load.echo());
    for (let round = 0; round < 3; round += 1) {
      for (const [index, load] of loads.entries()) {
        measured[index]?.push(await measure(callers, 8_000, () => load.echo()));
      }
    }
    await Promise.all(loads.map((load) => load.close()));
    await plain.stop();
    await behind.stop();
    const [off, on] = measured.map((runs) => medianOf(runs));
    return [
      figure('access checks off', off),
      figure('all access checks, admission cached', on),
      {
        what: 'calls to the platform meanwhile',
        measured: String(platform.calls()),
        aim: '1 in 5 s',
      },
    ];
  } finally {
    open.remove();
    closed.remove();
    platform.stop();
  }
}

function figure(what: string, measured: Measured | undefined): Figure {
  const { perSecond = 0, p99 = 0 } = measured ?? {};
  const rate = Math.round(perSecond).toLocaleString('en');
  return {
    what: `echo sends, ${callers} at once, ${what}`,
    measured: `${rate}/s, p99 ${p99.toFixed(1)} ms`,
    aim: '',
  };
}

/** A platform that admits everything, and counts. */
async function startPlatform() {
  let calls = 0;
  const server = createServer((_, response) => {
    calls += 1;
    response.setHeader('Content-Type', 'application/json');
    response.end('{"decision":"admit","reason":"","scope":"","window":"","reset_at":""}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/admission`,
    calls: () => calls,
    stop: () => server.close(),
  };
}
