import type { CardParts } from '../../machines/card/agent-card.ts';
import type { JsonObject } from '../../machines/json.ts';
import { assembleCard } from './assemble-card.ts';
import { assembleModernCard } from './assemble-modern-card.ts';

/**
 * Assembles the card for clients that name no version: the 0.3.0 card plus the 1.0 fields, so that clients of both
 * generations find their interface (docs/contract/agent-card.md). For fields whose forms differ, such as
 * `securitySchemes`, the 0.3.0 form is used, which 1.0 readers also understand.
 */
export function assembleHybridCard(parts: CardParts): JsonObject {
  const older = assembleCard(parts);
  const modern = assembleModernCard(parts);
  return {
    ...modern,
    ...older,
    capabilities: { ...(modern['capabilities'] as JsonObject), ...older.capabilities },
  } as unknown as JsonObject;
}
