import type { RoutedContext } from '../request-state.ts';
import { type ProtectedResource, presentResource } from '../wire/protected-resource.ts';

/** `GET /.well-known/oauth-protected-resource`: how MCP clients get a token (RFC 9728). */
export function protectedResource(resource: ProtectedResource) {
  const body = presentResource(resource);
  return function publishResource(ctx: RoutedContext) {
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = body;
  };
}
