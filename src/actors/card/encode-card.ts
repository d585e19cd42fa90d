import { hash } from 'node:crypto';
import type { AgentCard, CardParts } from '../../machines/card/agent-card.ts';
import type { AuditEvent } from '../ports/audit-event.ts';
import type { CardVersion, PublishedCard } from '../ports/card-source.ts';
import { assembleCard } from './assemble-card.ts';
import { assembleHybridCard } from './assemble-hybrid-card.ts';
import { assembleModernCard, withModernSchemes } from './assemble-modern-card.ts';

/** The encoded card of each version, and its audit event. */
export interface EncodedCard {
  versions: Record<CardVersion, PublishedCard>;
  /** The same cards for REST, with 0.3.0 security schemes also under their 1.0 names. */
  restVersions: Record<CardVersion, PublishedCard>;
  event: Pick<AuditEvent, 'event' | 'fields'>;
}

/** Encodes the parts of a card; equal parts give equal bytes (docs/contract/agent-card.md). */
export function encodeCard(parts: CardParts): EncodedCard {
  const card = assembleCard(parts);
  const hybrid = assembleHybridCard(parts);
  const versions = {
    hybrid: published(hybrid),
    '0.3.0': published(card),
    '1.0': published(assembleModernCard(parts)),
  };
  return {
    versions,
    restVersions: {
      hybrid: published(withModernSchemes(hybrid)),
      '0.3.0': published(withModernSchemes(card)),
      '1.0': versions['1.0'],
    },
    event: cardEvent(parts, card, versions.hybrid.body),
  };
}

/** Creates the audit event of a new card (docs/contract/agent-card.md). */
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

/** Adds a strong ETag: only equal bytes have equal tags. */
function published(card: object): PublishedCard {
  const body = Buffer.from(JSON.stringify(card));
  return { body, etag: `"${hash('sha256', body)}"` };
}
