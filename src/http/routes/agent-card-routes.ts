import { z } from 'zod';
import type { CardSource, CardVersion } from '../../actors/ports/card-source.ts';
import { holding, json, type Parameter } from '../openapi/operation.ts';
import type { RoutedContext } from '../request-state.ts';
import { isKnownTag } from '../wire/entity-tag.ts';
import { frontPage, frontPagePolicy, type PageOwner } from '../wire/front-page.ts';
import { Problem } from '../wire/problem.ts';
import { type Routes, unchanged } from './route.ts';

/** The path of the card (docs/contract/agent-card.md). */
const cardPath = '/.well-known/agent-card.json';

/** The path of the card on the REST surface of 0.3.0. */
export const restCardPath = '/v1/card';

export const agentCard = z
  .looseObject({
    name: z.string(),
    description: z.string().optional(),
    version: z.string(),
    url: z.string().optional(),
    skills: z.array(z.looseObject({ id: z.string(), name: z.string() })),
    capabilities: z.looseObject({ streaming: z.boolean().optional() }),
    securitySchemes: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'AgentCard' });

const card = {
  ...holding('The card.', agentCard, {
    headers: { ETag: 'The same for equal bytes.', Vary: 'A2A-Version, among others.' },
  }),
};

export const a2aVersion: Parameter = {
  name: 'A2A-Version',
  in: 'header',
  says: 'The version of A2A that the caller speaks, such as 1.0.',
  schema: z.string(),
};

/** The routes of the card, and of the front page that shows it to browsers. */
export const cardRoutes = (ports: { card: CardSource }): Routes => ({
  'GET /.well-known/agent-card.json': {
    id: 'getAgentCard',
    tag: 'agent',
    says: 'Shows the agent card.',
    parameters: [a2aVersion],
    answers: { 200: card, 304: unchanged },
    isPublic: true,
    answer: showCard(ports, false),
  },
  'GET /.well-known/agent.json': {
    id: 'getAgentCardWhereItWas',
    tag: 'agent',
    says: 'Shows the agent card at its legacy path.',
    parameters: [a2aVersion],
    answers: { 200: card, 304: unchanged },
    isPublic: true,
    answer: showDeprecatedCard(ports),
  },
  'GET /': {
    id: 'getFrontPage',
    tag: 'agent',
    says: 'Shows a page to browsers and the agent card to other clients.',
    parameters: [a2aVersion],
    answers: {
      200: {
        says: 'A page, or the card.',
        content: { [json]: agentCard, 'text/html': null },
        headers: card.headers ?? {},
      },
      304: unchanged,
    },
    isPublic: true,
    answer: showFront(ports),
  },
});

/**
 * `GET /v1/card`: the well-known card under the path that authenticated 0.3.0 clients request (docs/contract/a2a.md).
 */
export function restAgentCard(ports: { card: CardSource }) {
  return showCard(ports, true);
}

function showCard({ card }: { card: CardSource }, forRest: boolean) {
  return function show(ctx: RoutedContext) {
    const published = card.current(versionOf(ctx.get('A2A-Version')), forRest);
    if (published === null) throw new Problem('starting', 'the service is starting');
    ctx.vary('A2A-Version');
    ctx.set('Cache-Control', 'max-age=60');
    ctx.set('ETag', published.etag);
    if (isKnownTag(ctx.get('If-None-Match'), published.etag)) {
      ctx.status = 304;
      return;
    }
    ctx.type = 'application/json';
    ctx.state.isShared = true;
    ctx.body = published.body;
  };
}

function showDeprecatedCard(ports: { card: CardSource }) {
  const show = showCard(ports, false);
  return function showDeprecated(ctx: RoutedContext) {
    ctx.set('Deprecation', 'true');
    ctx.set('Link', `<${cardPath}>; rel="successor-version"`);
    show(ctx);
  };
}

/** A client without a known version may use either. */
function versionOf(header: string): CardVersion {
  const [, said] = /^(0\.3|1\.0)(?:\.\d{1,9})?$/.exec(header.trim()) ?? [];
  if (said === undefined) return 'hybrid';
  return said === '1.0' ? '1.0' : '0.3.0';
}

/** Maximum length of an `Accept` header. Browsers send about 200 characters, and a long header can be slow to parse. */
const longestAccept = 1_024;

/** Answers with a short page for browsers, and with the card for other clients, which request it from the card's own URL. */
function showFront(ports: { card: CardSource }) {
  const show = showCard(ports, false);
  return function answer(ctx: RoutedContext) {
    ctx.vary('Accept');
    const isShort = ctx.get('Accept').length <= longestAccept;
    if (!isShort || ctx.accepts('json', 'html') !== 'html') return show(ctx);
    ctx.vary('A2A-Version');
    const published = ports.card.current('0.3.0');
    if (published === null) throw new Problem('starting', 'the service is starting');
    ctx.set('Content-Security-Policy', frontPagePolicy);
    ctx.type = 'html';
    ctx.body = frontPage(JSON.parse(published.body.toString()) as PageOwner);
  };
}
