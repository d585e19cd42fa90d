import type { CardSource, CardVersion } from '../../actors/ports/card-source.ts';
import type { RoutedContext } from '../request-state.ts';
import { isKnownTag } from '../wire/entity-tag.ts';
import { Problem } from '../wire/problem.ts';

/** The path of the card (docs/contract/agent-card.md). */
export const cardPath = '/.well-known/agent-card.json';

/** The path of the card on the REST surface of 0.3.0. */
export const restCardPath = '/v1/card';

/** The former path of the card. */
export const legacyCardPath = '/.well-known/agent.json';

/** `GET /.well-known/agent-card.json`: the card in the caller's A2A version (docs/contract/agent-card.md). */
export function agentCard(ports: { card: CardSource }) {
  return cardShower(ports, false);
}

/**
 * `GET /v1/card`: the well-known card under the path that authenticated 0.3.0 clients request (docs/contract/a2a.md).
 */
export function restAgentCard(ports: { card: CardSource }) {
  return cardShower(ports, true);
}

function cardShower({ card }: { card: CardSource }, forRest: boolean) {
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

/** `GET /.well-known/agent.json`: the card under the path that older clients request (docs/contract/agent-card.md). */
export function legacyAgentCard(ports: { card: CardSource }) {
  const show = agentCard(ports);
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
