import type { AgentSkill, CardParts } from '../../../src/machines/card/agent-card.ts';

/** The parts of a card with nothing optional in it, and these on top. */
export function someParts(parts: Partial<CardParts> = {}): CardParts {
  return {
    name: 'refunds',
    description: '',
    version: '0.0.0',
    url: 'http://127.0.0.1:8080',
    skills: [],
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    interfaces: [],
    declared: [],
    written: {},
    isExtended: false,
    ...parts,
  };
}

/** Every way to call an agent that there may be. */
export const everyInterface: CardParts['interfaces'] = [
  { transport: 'JSONRPC', protocolVersion: '0.3', path: '' },
  { transport: 'HTTP+JSON', protocolVersion: '0.3', path: '' },
  { transport: 'JSONRPC', protocolVersion: '1.0', path: '' },
  { transport: 'HTTP+JSON', protocolVersion: '1.0', path: '/a2a' },
];

/** A skill as the card shows it. */
export function aSkill(id: string, more: Partial<AgentSkill> = {}): AgentSkill {
  return { id, name: id, description: `Does ${id}.`, tags: ['skill'], ...more };
}
