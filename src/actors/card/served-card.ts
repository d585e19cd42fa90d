import type { CardCapabilities, CardInterface } from '../../machines/card/agent-card.ts';

/** The ways to call the agent that work; a card names no other (docs/contract/agent-card.md). */
export const servedInterfaces: readonly CardInterface[] = [
  { transport: 'JSONRPC', protocolVersion: '1.0', path: '' },
  { transport: 'HTTP+JSON', protocolVersion: '1.0', path: '/a2a' },
  { transport: 'JSONRPC', protocolVersion: '0.3', path: '' },
  { transport: 'HTTP+JSON', protocolVersion: '0.3', path: '' },
];

/** What the agent can do, as its card says it. */
export const servedCapabilities: CardCapabilities = {
  streaming: true,
  pushNotifications: true,
  stateTransitionHistory: false,
};
