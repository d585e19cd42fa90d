import type { AgentCard, CardParts } from '../../machines/card/agent-card.ts';
import type { JsonValue } from '../../machines/json.ts';
import { inOrder } from './agent-skill.ts';

/** Supported input and output content types (docs/contract/agent-card.md). */
export const cardModes = ['text/plain', 'application/json'];

/**
 * Assembles the 0.3.0 card (docs/contract/agent-card.md). Deterministic: equal parts give equal bytes in any order of
 * skills. Empty optional fields are omitted.
 */
export function assembleCard(parts: CardParts): AgentCard {
  const { name, description, version, url, capabilities } = parts;
  const interfaces = parts.interfaces
    .filter(({ protocolVersion }) => protocolVersion === '0.3')
    .map(({ path, transport }) => ({ url: url + path, transport }));
  const schemes = securitySchemes(parts);
  return {
    name,
    ...(description === '' ? {} : { description }),
    url,
    preferredTransport: 'JSONRPC',
    ...(interfaces.length === 0 ? {} : { additionalInterfaces: interfaces }),
    version,
    protocolVersion: '0.3.0',
    defaultInputModes: cardModes,
    defaultOutputModes: cardModes,
    skills: inOrder(parts.skills).map(plainSkill),
    capabilities: plainCapabilities(capabilities),
    ...(schemes.length === 0
      ? {}
      : {
          securitySchemes: Object.fromEntries(schemes),
          security: schemes.map(([key]) => Object.fromEntries([[key, []]])),
        }),
    ...(parts.isExtended ? { supportsAuthenticatedExtendedCard: true } : {}),
  };
}

/**
 * Returns the keyed security schemes: providers in order, then manual schemes. A manual scheme overrides a provider's
 * scheme with the same key.
 */
export function securitySchemes({ declared, written }: CardParts): [string, JsonValue][] {
  const byHand = new Map(Object.entries(written));
  const ofProviders = declared.map(({ key, scheme }): [string, JsonValue] => [
    key,
    byHand.get(key) ?? { ...scheme },
  ]);
  const taken = new Set(declared.map(({ key }) => key));
  return [...ofProviders, ...[...byHand].filter(([key]) => !taken.has(key))];
}

/** Copies the card fields of a skill in a fixed order. */
function plainSkill({ id, name, description, tags }: AgentCard['skills'][number]) {
  return { id, name, description, tags };
}

function plainCapabilities(capabilities: AgentCard['capabilities']): AgentCard['capabilities'] {
  const { streaming, pushNotifications, stateTransitionHistory } = capabilities;
  return { streaming, pushNotifications, stateTransitionHistory };
}
