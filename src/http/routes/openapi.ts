import type Router from '@koa/router';
import type { CardSource, PublishedCard } from '../../actors/ports/card-source.ts';
import type { SurfaceOwner } from '../openapi/describe-surface.ts';
import type { RequestState, RoutedContext } from '../request-state.ts';
import { Problem } from '../wire/problem.ts';

/** The path of the OpenAPI description (docs/contract/transports.md). */
export const openApiPath = '/openapi.json';

/** The scheme types of OpenAPI. A manually configured scheme may have another type. */
const schemeTypes: readonly unknown[] = ['apiKey', 'http', 'mutualTLS', 'oauth2', 'openIdConnect'];

/**
 * `GET /openapi.json`: the API as OpenAPI 3.1, generated from the routes once per published card
 * (docs/contract/transports.md).
 */
export function openApi({ card }: { card: CardSource }, router: Router<RequestState>) {
  let made: { of: PublishedCard; body: Promise<Buffer> } | null = null;
  return async function describe(ctx: RoutedContext) {
    const published = card.current('0.3.0');
    if (published === null) throw new Problem('starting', 'the service is starting');
    if (made?.of !== published) made = { of: published, body: write(router, published) };
    ctx.type = 'application/json';
    ctx.state.isShared = true;
    ctx.body = await made.body;
  };
}

/** Loaded at the first request, because most agents never receive one. */
async function write(router: Router<RequestState>, { body }: PublishedCard): Promise<Buffer> {
  const { describeSurface } = await import('../openapi/describe-surface.ts');
  return Buffer.from(JSON.stringify(describeSurface(router.stack, readOwner(body))));
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
