import type { CardCapabilities, CardInterface } from '../../machines/card/agent-card.ts';

/** Working interfaces of the agent; a card lists no others (docs/contract/agent-card.md). */
export const servedInterfaces: readonly CardInterface[] = [
  { transport: 'JSONRPC', protocolVersion: '1.0', path: '' },
  { transport: 'HTTP+JSON', protocolVersion: '1.0', path: '/a2a' },
  { transport: 'JSONRPC', protocolVersion: '0.3', path: '' },
  { transport: 'HTTP+JSON', protocolVersion: '0.3', path: '' },
];

/** Capabilities advertised on the card. */
export const servedCapabilities: CardCapabilities = {
  streaming: true,
  pushNotifications: true,
  stateTransitionHistory: false,
};
