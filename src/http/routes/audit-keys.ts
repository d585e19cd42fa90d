import { z } from 'zod';
import { holding } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import { entityTag, isKnownTag } from '../wire/entity-tag.ts';
import { type Routes, unchanged } from './route.ts';

export interface AuditKeysPorts {
  /** The public keys of the log as a JWKS; absent while the log is unsigned. */
  auditKeys?: { keys: readonly object[] };
}

const keySet = z
  .object({ keys: z.array(z.looseObject({ kty: z.string(), kid: z.string() })) })
  .meta({ id: 'AuditKeys' });

/** The routes of the public keys of the audit log. */
export const auditKeyRoutes = (ports: AuditKeysPorts): Routes => ({
  'GET /.well-known/service-audit-keys': {
    id: 'getAuditKeys',
    tag: 'agent',
    says: 'Shows the public keys of the audit log, none while it is unsigned.',
    answers: { 200: holding('The keys, as a JWKS.', keySet) },
    isPublic: true,
    answer: publishKeys(ports),
  },
  'GET /.well-known/audit-keys.json': {
    id: 'getCachedAuditKeys',
    tag: 'agent',
    says: 'Shows the public keys of the audit log and of receipts, for caches.',
    answers: {
      200: holding('The keys, as a JWKS.', keySet, {
        headers: { ETag: 'The same for equal bytes.', 'Cache-Control': 'Lets caches keep them.' },
      }),
      304: unchanged,
    },
    isPublic: true,
    answer: publishForCaches(ports),
  },
});

function publishKeys({ auditKeys: { keys } = { keys: [] } }: AuditKeysPorts) {
  return function publish(ctx: RoutedContext) {
    ctx.body = { keys };
  };
}

function publishForCaches({ auditKeys: { keys } = { keys: [] } }: AuditKeysPorts) {
  const body = Buffer.from(JSON.stringify({ keys }));
  const tag = entityTag(body);
  return function publish(ctx: RoutedContext) {
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
