import type { CardSource } from '../../actors/ports.ts';
import type { RoutedContext } from '../request-state.ts';
import { frontPage, frontPagePolicy, type PageOwner } from '../wire/front-page.ts';
import { Problem } from '../wire/problem.ts';
import { agentCard } from './agent-card-routes.ts';

/**
 * Maximum length of an `Accept`: browsers send some two hundred characters, and a long one can be made slow to parse.
 */
const longestAccept = 1_024;

/**
 * `GET /`: a short page for a browser, and the card for everybody else, since clients ask the card's own url for it
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
    if (published === null) throw new Problem(503, { error: 'the service is starting' });
    ctx.set('Content-Security-Policy', frontPagePolicy);
    ctx.type = 'html';
    ctx.body = frontPage(JSON.parse(published.body.toString()) as PageOwner);
  };
}
