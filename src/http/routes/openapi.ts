import type Router from '@koa/router';
import { z } from 'zod';
import type { CardSource, PublishedCard } from '../../actors/ports/card-source.ts';
import type { SurfaceOwner } from '../openapi/describe-surface.ts';
import { holding } from '../openapi/operation.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';
import type { Routes } from './route.ts';

/** The scheme types of OpenAPI. A manually configured scheme may have another type. */
const schemeTypes: readonly unknown[] = ['apiKey', 'http', 'mutualTLS', 'oauth2', 'openIdConnect'];

interface OpenApiPorts {
  card: CardSource;
  router: Router<RequestState>;
  /** The routes of the router that describe themselves. */
  routes: Routes;
}

/** The route of the API as OpenAPI 3.1. */
export const openApiRoutes = (ports: OpenApiPorts): Routes => ({
  'GET /openapi.json': {
    id: 'getDescription',
    tag: 'agent',
    says: 'Shows this description.',
    answers: { 200: holding('OpenAPI 3.1.', z.looseObject({ openapi: z.string() })) },
    isPublic: true,
    answer: describe(ports),
  },
});

/** Describes the routes once per published card. */
function describe({ card, router, routes }: OpenApiPorts) {
  let made: { of: PublishedCard; body: Promise<Buffer> } | null = null;
  return async function answer(ctx: RoutedContext) {
    const published = card.current('0.3.0');
    if (published === null) throw new Problem('starting', 'the service is starting');
    if (made?.of !== published) made = { of: published, body: write(router, routes, published) };
    ctx.type = 'application/json';
    ctx.state.isShared = true;
    ctx.body = await made.body;
  };
}

/** Loaded at the first request, because most agents never receive one. */
async function write(
  router: Router<RequestState>,
  routes: Routes,
  { body }: PublishedCard,
): Promise<Buffer> {
  const { describeSurface } = await import('../openapi/describe-surface.ts');
  return Buffer.from(JSON.stringify(describeSurface(router.stack, routes, readOwner(body))));
}

function readOwner(body: Buffer): SurfaceOwner {
  const card = JSON.parse(body.toString()) as SurfaceOwner;
  const known = Object.entries(card.securitySchemes ?? {}).filter(([, scheme]) =>
    schemeTypes.includes((scheme as { type?: unknown }).type),
  );
  const keys = new Set(known.map(([key]) => key));
  return {
    ...card,
    securitySchemes: Object.fromEntries(known),
    security: (card.security ?? []).filter((one) => Object.keys(one).every((key) => keys.has(key))),
  };
}
