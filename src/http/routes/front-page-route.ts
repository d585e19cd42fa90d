import type { CardSource } from '../../actors/ports/card-source.ts';
import type { RoutedContext } from '../request-state.ts';
import { frontPage, frontPagePolicy, type PageOwner } from '../wire/front-page.ts';
import { Problem } from '../wire/problem.ts';
import { agentCard } from './agent-card-routes.ts';

/** Maximum length of an `Accept` header. Browsers send about 200 characters, and a long header can be slow to parse. */
const longestAccept = 1_024;

/**
 * `GET /`: a short page for browsers, and the card for other clients, which request it from the card's own URL
 * (docs/contract/transports.md).
 */
export function serveFrontPage(ports: { card: CardSource }) {
  const showCard = agentCard(ports);
  return function show(ctx: RoutedContext) {
    ctx.vary('Accept');
    const isShort = ctx.get('Accept').length <= longestAccept;
    if (!isShort || ctx.accepts('json', 'html') !== 'html') return showCard(ctx);
    ctx.vary('A2A-Version');
    const published = ports.card.current('0.3.0');
    if (published === null) throw new Problem('starting', 'the service is starting');
    ctx.set('Content-Security-Policy', frontPagePolicy);
    ctx.type = 'html';
    ctx.body = frontPage(JSON.parse(published.body.toString()) as PageOwner);
  };
}
