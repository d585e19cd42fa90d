import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { v7 } from 'uuid';
import { onTestFinished } from 'vitest';
import type { RateLimits } from '../../../src/actors/ports/rate-limits.ts';
import { listen } from '../../../src/http/listen.ts';
import { allowOrigins } from '../../../src/http/middleware/allow-origins.ts';
import { correlate } from '../../../src/http/middleware/correlate.ts';
import { handleErrors } from '../../../src/http/middleware/handle-errors.ts';
import { hardenResponse } from '../../../src/http/middleware/harden-response.ts';
import { limitRate } from '../../../src/http/middleware/limit-rate.ts';
import { readJson } from '../../../src/http/middleware/read-json.ts';
import type { RequestState } from '../../../src/http/request-state.ts';
import { Problem } from '../../../src/http/wire/problem.ts';
import { AgentClient } from '../../helpers/agent-client.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { someTraffic } from '../../helpers/some-traffic.ts';

/** The middleware before a surface that echoes every request. */
export interface Door {
  client: AgentClient;
  clock: ManualClock;
  log: string[];
  /** The paths of the requests that came as far as authentication, which refuses the token `wrong`. */
  asked: string[];
}

/** Limits of one read and one write a second, two of them at once. */
const slow: RateLimits = {
  readRps: 1,
  readBurst: 2,
  writeRps: 1,
  writeBurst: 2,
  cancelExempt: true,
  trustedProxies: [],
};

/** Serves the door until the test has finished. */
export async function serveDoor({
  limits = {},
  origins = [],
  arriving,
}: {
  limits?: Partial<RateLimits>;
  origins?: string[];
  /** What authentication waits for. */
  arriving?: Promise<void>;
} = {}): Promise<Door> {
  const log: string[] = [];
  const asked: string[] = [];
  const note = (_: object, message: string) => void log.push(message);
  const ids = { next: () => v7() };
  const clock = new ManualClock(1_000_000);
  const app = new Koa<RequestState>();
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET') log.push(error.message);
  });
  app.use(correlate({ ids }));
  app.use(hardenResponse());
  app.use(handleErrors({ log: { info: note, warn: note, error: note } }));
  app.use(allowOrigins({ origins }));
  app.use(limitRate({ limits: { ...slow, ...limits }, clock }));
  app.use(async (ctx, next) => {
    asked.push(ctx.path);
    await (arriving ?? Promise.resolve());
    if (ctx.get('Authorization') === 'Bearer wrong') throw new Problem('unauthorized', 'wrong');
    ctx.state.traffic = someTraffic();
    await next();
  });
  app.use(readJson());
  app.use((ctx) => {
    const { clientAddress } = ctx.state as RequestState & { clientAddress: string };
    ctx.body = { address: clientAddress, sent: ctx.request.body ?? null };
  });
  const server = await listen(app, { host: '127.0.0.1', port: 0, isFixed: true, ids });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const { port } = server.address() as AddressInfo;
  return { client: new AgentClient(`http://127.0.0.1:${port}`, null), clock, log, asked };
}
