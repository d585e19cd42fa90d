import { holding } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import {
  type ProtectedResource,
  presentResource,
  resourceMetadata,
} from '../wire/protected-resource.ts';
import type { Routes } from './route.ts';

/** The routes that name the issuers of the MCP endpoint (RFC 9728). */
export function resourceRoutes(resource: ProtectedResource): Routes {
  const body = presentResource(resource);
  const answer = (ctx: RoutedContext): void => {
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = body;
  };
  return {
    'GET /.well-known/oauth-protected-resource': {
      id: 'getResource',
      tag: 'mcp',
      says: 'Shows the same metadata at the root form of its path.',
      answers: { 200: holding('The metadata.', resourceMetadata) },
      isPublic: true,
      answer,
    },
    'GET /.well-known/oauth-protected-resource/mcp': {
      id: 'getMcpResource',
      tag: 'mcp',
      says: 'Names the issuers whose tokens the MCP endpoint accepts (RFC 9728).',
      answers: { 200: holding('The metadata.', resourceMetadata) },
      isPublic: true,
      answer,
    },
  };
}
