import type { JsonObject } from '../json.ts';

/** A skill on the agent card (docs/contract/agent-card.md). */
export interface AgentSkill {
  id: string;
  name: string;
  description: string;
  /** Never empty. */
  tags: string[];
}

/** The agent's optional capabilities. Always present, and always matching the served features. */
export interface CardCapabilities {
  streaming: boolean;
  pushNotifications: boolean;
  stateTransitionHistory: boolean;
}

/** A supported interface of the agent. */
export interface CardInterface {
  transport: 'JSONRPC' | 'HTTP+JSON';
  protocolVersion: '0.3' | '1.0';
  /** Path appended to the card's URL, such as `/a2a`; empty for the URL itself. */
  path: string;
}

/** The advertised form of one authentication provider (docs/contract/agent-card.md). */
export type SecurityScheme =
  | { type: 'http'; scheme: 'bearer'; bearerFormat?: string }
  | { type: 'openIdConnect'; openIdConnectUrl: string }
  | { type: 'apiKey'; in: 'header'; name: string };

/** A scheme, its key on the card, and the type of its provider. */
export interface DeclaredScheme {
  key: string;
  provider: string;
  scheme: SecurityScheme;
}

/** The inputs of a card. */
export interface CardParts {
  name: string;
  /** Empty when unknown. */
  description: string;
  version: string;
  /** The agent's URL without a trailing slash. */
  url: string;
  /** In any order. If several have the same ID, the first one is used. */
  skills: readonly AgentSkill[];
  capabilities: CardCapabilities;
  interfaces: readonly CardInterface[];
  /** In provider order. */
  declared: readonly DeclaredScheme[];
  /** Manually configured schemes by key, used unmodified. */
  written: JsonObject;
  /** True if callers must authenticate, and may then request the extended card (docs/contract/a2a.md). */
  isExtended: boolean;
}

/** The 0.3.0 card (docs/contract/agent-card.md); its keys always have this order. */
export interface AgentCard {
  name: string;
  description?: string;
  url: string;
  preferredTransport: 'JSONRPC';
  additionalInterfaces?: { url: string; transport: CardInterface['transport'] }[];
  version: string;
  protocolVersion: '0.3.0';
  defaultInputModes: string[];
  defaultOutputModes: string[];
  skills: AgentSkill[];
  capabilities: CardCapabilities;
  securitySchemes?: JsonObject;
  security?: { [key: string]: string[] }[];
  supportsAuthenticatedExtendedCard?: true;
}
