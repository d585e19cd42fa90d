import type { CardParts } from '../../machines/card/agent-card.ts';
import type { JsonObject } from '../../machines/json.ts';
import { assembleCard } from './assemble-card.ts';
import { assembleModernCard } from './assemble-modern-card.ts';

/**
 * Creates the card for clients that name no version: the 0.3.0 card with the fields of 1.0 added, so that clients of
 * both generations find their interface (docs/contract/agent-card.md). Where both have a field in forms of their own,
 * as `securitySchemes`, it is that of 0.3.0, which readers of 1.0 know how to read.
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
