import type { JsonObject } from '../json.ts';

/** A skill as the agent card shows it (docs/contract/agent-card.md). */
export interface AgentSkill {
  id: string;
  name: string;
  description: string;
  /** Never empty. */
  tags: string[];
}

/** What the agent can do beyond answering a call; always shown, always true to what is served. */
export interface CardCapabilities {
  streaming: boolean;
  pushNotifications: boolean;
  stateTransitionHistory: boolean;
}

/** A way to call the agent that works. */
export interface CardInterface {
  transport: 'JSONRPC' | 'HTTP+JSON';
  protocolVersion: '0.3' | '1.0';
  /** What follows the card's url, such as `/a2a`; empty for the url itself. */
  path: string;
}

/** How one provider of the authentication chain is advertised (docs/contract/agent-card.md). */
export type SecurityScheme =
  | { type: 'http'; scheme: 'bearer'; bearerFormat?: string }
  | { type: 'openIdConnect'; openIdConnectUrl: string }
  | { type: 'apiKey'; in: 'header'; name: string };

/** A scheme, the key it has on the card, and the type of the provider that declares it. */
export interface DeclaredScheme {
  key: string;
  provider: string;
  scheme: SecurityScheme;
}

/** Everything a card may show of an agent. */
export interface CardParts {
  name: string;
  /** Empty when unknown. */
  description: string;
  version: string;
  /** Where the agent is called, without a slash at its end. */
  url: string;
  /** In any order; of several with one id the first counts. */
  skills: readonly AgentSkill[];
  capabilities: CardCapabilities;
  interfaces: readonly CardInterface[];
  /** In the order of the providers. */
  declared: readonly DeclaredScheme[];
  /** Schemes set by hand, by their key; kept as written. */
  written: JsonObject;
  /** True where callers sign in, and may then ask for the extended card (docs/contract/a2a.md). */
  isExtended: boolean;
}

/** The 0.3.0 card (docs/contract/agent-card.md); its keys are always in this order. */
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
