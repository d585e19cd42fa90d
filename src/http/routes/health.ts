import type { TaskSystem } from '../../actors/system.ts';
import type { RoutedContext } from '../request-state.ts';

/** `GET /healthz`: the process answers. */
export function healthz() {
  return function health(ctx: RoutedContext) {
    ctx.body = { status: 'ok' };
  };
}

/** `GET /readyz`: new work is taken in and can be recorded; 503 while starting, draining or unable to record. */
export function readyz({ system }: { system: TaskSystem }) {
  return function ready(ctx: RoutedContext) {
    const isReady = system.isReady();
    ctx.status = isReady ? 200 : 503;
    ctx.body = isReady
      ? { status: 'ready' }
      : { error: 'the service is starting, shutting down, or cannot record anything' };
  };
}

/** `GET /.well-known/service-audit-keys`: the public keys of the audit log as a JWKS; none while it is unsigned. */
export function auditKeys({
  auditKeys: { keys } = { keys: [] },
}: {
  auditKeys?: { keys: readonly object[] };
} = {}) {
  return function publishKeys(ctx: RoutedContext) {
    ctx.body = { keys };
  };
}
