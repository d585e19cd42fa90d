import type { CardInterface, CardParts } from '../../machines/card/agent-card.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import { inOrder } from './agent-skill.ts';
import { cardModes, securitySchemes } from './assemble-card.ts';

/** A2A 1.0 names of the 0.3.0 security schemes, by `type`. */
const schemeNames: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['http', 'httpAuthSecurityScheme'],
  ['apiKey', 'apiKeySecurityScheme'],
  ['oauth2', 'oauth2SecurityScheme'],
  ['openIdConnect', 'openIdConnectSecurityScheme'],
  ['mutualTLS', 'mtlsSecurityScheme'],
]);

/**
 * Assembles the A2A 1.0 card from the same parts, with its 1.0 interfaces first. Omits manual schemes whose `type` does
 * not exist in 1.0.
 */
export function assembleModernCard(parts: CardParts): JsonObject {
  const { name, description, version, url, capabilities } = parts;
  const schemes = securitySchemes(parts).flatMap(([key, scheme]) => {
    const modern = modernScheme(scheme);
    return modern === null ? [] : [[key, modern] as const];
  });
  return {
    name,
    description,
    supportedInterfaces: [...interfacesOf(parts, '1.0'), ...interfacesOf(parts, '0.3')].map(
      ({ path, transport, protocolVersion }) => ({
        url: url + path,
        protocolBinding: transport,
        protocolVersion,
      }),
    ),
    version,
    capabilities: {
      streaming: capabilities.streaming,
      pushNotifications: capabilities.pushNotifications,
      ...(parts.isExtended ? { extendedAgentCard: true } : {}),
    },
    ...(schemes.length === 0
      ? {}
      : {
          securitySchemes: Object.fromEntries(schemes),
          securityRequirements: schemes.map(([key]) => ({
            schemes: Object.fromEntries([[key, {}]]),
          })),
        }),
    defaultInputModes: cardModes,
    defaultOutputModes: cardModes,
    skills: inOrder(parts.skills).map(({ id, name: title, description: text, tags }) => ({
      id,
      name: title,
      description: text,
      tags,
    })),
  };
}

function interfacesOf({ interfaces }: CardParts, version: CardInterface['protocolVersion']) {
  return interfaces.filter(({ protocolVersion }) => protocolVersion === version);
}

/** Adds the 1.0 name to each scheme of a 0.3.0 card, since Protocol Buffers readers accept no other name. */
export function withModernSchemes<Card extends { securitySchemes?: unknown }>(card: Card): Card {
  const { securitySchemes } = card;
  if (!isJsonObject(securitySchemes)) return card;
  const both = Object.entries(securitySchemes).map(([key, scheme]) => [
    key,
    isJsonObject(scheme) ? { ...scheme, ...modernScheme(scheme) } : scheme,
  ]);
  return { ...card, securitySchemes: Object.fromEntries(both) as unknown };
}

function modernScheme(scheme: JsonValue | undefined): JsonObject | null {
  if (!isJsonObject(scheme)) return null;
  const { type, in: location, ...rest } = scheme;
  const name = schemeNames.get(type);
  if (name === undefined) return null;
  return { [name]: type === 'apiKey' ? { location: location ?? 'header', ...rest } : rest };
}
