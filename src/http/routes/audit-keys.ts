import type { RoutedContext } from '../request-state.ts';
import { entityTag, isKnownTag } from '../wire/entity-tag.ts';

/** The path of the published keys. */
export const auditKeysPath = '/.well-known/audit-keys.json';

export interface AuditKeysPorts {
  /** The public keys of the log as a JWKS; absent while the log is unsigned. */
  auditKeys?: { keys: readonly object[] };
}

/** `GET /.well-known/service-audit-keys`: the audit log's public keys as a JWKS; empty while the log is unsigned. */
export function auditKeys({ auditKeys: { keys } = { keys: [] } }: AuditKeysPorts = {}) {
  return function publishKeys(ctx: RoutedContext) {
    ctx.body = { keys };
  };
}

/** `GET /.well-known/audit-keys.json`: the same keys, for caches. */
export function cachedAuditKeys({ auditKeys: { keys } = { keys: [] } }: AuditKeysPorts) {
  const body = Buffer.from(JSON.stringify({ keys }));
  const tag = entityTag(body);
  return function publishKeys(ctx: RoutedContext) {
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.set('ETag', tag);
    if (isKnownTag(ctx.get('If-None-Match'), tag)) {
      ctx.status = 304;
      return;
    }
    ctx.type = 'application/json';
    ctx.state.isShared = true;
    ctx.body = body;
  };
}
