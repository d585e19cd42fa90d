import { hash } from 'node:crypto';
import type { AgentCard, CardParts } from '../../machines/card/agent-card.ts';
import type { AuditEvent, CardVersion, PublishedCard } from '../ports.ts';
import { assembleCard } from './assemble-card.ts';
import { assembleModernCard } from './assemble-modern-card.ts';

/** The card of each version as it is sent, and what the audit log says of it. */
export interface EncodedCard {
  versions: Record<CardVersion, PublishedCard>;
  event: Pick<AuditEvent, 'event' | 'fields'>;
}

/** Turns the parts of a card into bytes; equal parts give equal bytes (document 2 section 4). */
export function encodeCard(parts: CardParts): EncodedCard {
  const card = assembleCard(parts);
  const body = Buffer.from(JSON.stringify(card));
  const modern = Buffer.from(JSON.stringify(assembleModernCard(parts)));
  return {
    versions: {
      '0.3.0': { body, etag: etagOf(body) },
      '1.0': { body: modern, etag: etagOf(modern) },
    },
    event: cardEvent(parts, card, body),
  };
}

/** Says in the words of the audit log which card is shown from now on (document 2 section 6.1). */
function cardEvent(
  { declared }: CardParts,
  card: AgentCard,
  body: Buffer,
): Pick<AuditEvent, 'event' | 'fields'> {
  const { streaming, pushNotifications, stateTransitionHistory } = card.capabilities;
  return {
    event: 'agent_card_published',
    fields: {
      name: card.name,
      version: card.version,
      protocol_version: card.protocolVersion,
      url: card.url,
      skill_count: card.skills.length,
      capabilities: {
        streaming,
        push_notifications: pushNotifications,
        state_transition_history: stateTransitionHistory,
      },
      security_schemes: [...new Set(declared.map(({ provider }) => provider))],
      card_size_bytes: body.byteLength,
      card_sha256: hash('sha256', body),
    },
  };
}

/** A strong validator: equal bytes alone have equal tags. */
function etagOf(body: Buffer): string {
  return `"${hash('sha256', body)}"`;
}
