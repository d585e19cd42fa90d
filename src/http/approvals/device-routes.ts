import type Router from '@koa/router';
import type { Middleware } from 'koa';
import type { Devices } from '../../actors/ports/devices.ts';
import { readJson } from '../middleware/read-json.ts';
import type { RequestState } from '../request-state.ts';
import { sessionOf } from '../sign-in/find-session.ts';
import { type DeviceJson, type DeviceListJson, readSubscription } from '../wire/approvals-page.ts';
import { Problem } from '../wire/problem.ts';
import { timestamp } from '../wire/timestamp.ts';

interface DevicePorts {
  /** Path of the API of the page. */
  api: string;
  active: Middleware<RequestState>;
  devices: Devices;
}

/** Adds the routes for notifications to those of the approvals page (docs/contract/approvals-page.md). */
export function deviceRoutes(
  router: Router<RequestState>,
  { api, active, devices }: DevicePorts,
): void {
  const read = readJson({ longest: 16 * 1024 });
  router.get(`${api}/devices`, active, async (ctx) => {
    const [listed, public_key] = await Promise.all([
      devices.list(sessionOf(ctx)),
      devices.publicKey(),
    ]);
    const shown = listed.map(({ id, createdAt }) => ({ id, created_at: timestamp(createdAt) }));
    ctx.body = { public_key, devices: shown } satisfies DeviceListJson;
  });
  router.post(`${api}/devices`, active, read, async (ctx) => {
    const added = await devices.add(sessionOf(ctx), readSubscription(ctx.request.body));
    if (added.kind === 'refused') throw new Problem(400, { error: added.problem });
    const { id, createdAt } = added.device;
    ctx.status = 201;
    ctx.body = { id, created_at: timestamp(createdAt) } satisfies DeviceJson;
  });
  router.post(`${api}/devices/:id/removal`, active, read, async (ctx) => {
    const isRemoved = await devices.remove(sessionOf(ctx), ctx.params['id'] ?? '');
    if (!isRemoved) throw new Problem(404, { error: 'you have no such device' });
    ctx.status = 204;
  });
}
