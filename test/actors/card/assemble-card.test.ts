import { describe, expect, it } from 'vitest';
import { assembleCard } from '../../../src/actors/card/assemble-card.ts';
import type { DeclaredScheme } from '../../../src/machines/card/agent-card.ts';
import { aSkill, everyInterface, someParts } from './card-fixtures.ts';

const bearer = { type: 'http', scheme: 'bearer' } as const;
const ops: DeclaredScheme = { key: 'ops', provider: 'static_token', scheme: bearer };
const staff: DeclaredScheme = {
  key: 'staff',
  provider: 'oidc',
  scheme: { type: 'openIdConnect', openIdConnectUrl: 'https://x/.well-known/openid-configuration' },
};

describe('the card', () => {
  it('has only the required fields when nothing else is configured', () => {
    expect(assembleCard(someParts())).toStrictEqual({
      name: 'refunds',
      url: 'http://127.0.0.1:8080',
      preferredTransport: 'JSONRPC',
      version: '0.0.0',
      protocolVersion: '0.3.0',
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
      skills: [],
      capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    });
  });

  it('has every configured field, with its keys in one order', () => {
    const card = assembleCard(
      someParts({
        description: 'Handles refunds',
        version: '1.2.0',
        skills: [aSkill('b'), aSkill('a')],
        interfaces: everyInterface,
        declared: [ops],
      }),
    );
    expect(JSON.stringify(card, null, 1)).toBe(
      JSON.stringify(
        {
          name: 'refunds',
          description: 'Handles refunds',
          url: 'http://127.0.0.1:8080',
          preferredTransport: 'JSONRPC',
          additionalInterfaces: [
            { url: 'http://127.0.0.1:8080', transport: 'JSONRPC' },
            { url: 'http://127.0.0.1:8080', transport: 'HTTP+JSON' },
          ],
          version: '1.2.0',
          protocolVersion: '0.3.0',
          defaultInputModes: ['text/plain', 'application/json'],
          defaultOutputModes: ['text/plain', 'application/json'],
          skills: [
            { id: 'a', name: 'a', description: 'Does a.', tags: ['skill'] },
            { id: 'b', name: 'b', description: 'Does b.', tags: ['skill'] },
          ],
          capabilities: {
            streaming: true,
            pushNotifications: false,
            stateTransitionHistory: false,
          },
          securitySchemes: { ops: { type: 'http', scheme: 'bearer' } },
          security: [{ ops: [] }],
        },
        null,
        1,
      ),
    );
  });

  it('shows of its parts only the fields of a card', () => {
    const skill = { ...aSkill('a'), body: 'canary' };
    const capabilities = { ...someParts().capabilities, canary: true };
    expect(JSON.stringify(assembleCard(someParts({ skills: [skill], capabilities })))).not.toMatch(
      'canary',
    );
  });
});

describe('the security of the card', () => {
  it('requires any one of the schemes, in the order of the providers, custom ones last', () => {
    const mine = { type: 'mutualTLS', description: 'our own' };
    const { securitySchemes, security } = assembleCard(
      someParts({ declared: [staff, ops], written: { mine } }),
    );
    expect({ securitySchemes, security }).toStrictEqual({
      securitySchemes: { staff: staff.scheme, ops: bearer, mine },
      security: [{ staff: [] }, { ops: [] }, { mine: [] }],
    });
  });

  it('keeps a custom scheme as written where a provider has the same key', () => {
    const mine = { type: 'http', scheme: 'basic', 'x-note': 'as written' };
    const { securitySchemes, security } = assembleCard(
      someParts({ declared: [ops, staff], written: { ops: mine } }),
    );
    expect({ securitySchemes, security }).toStrictEqual({
      securitySchemes: { ops: mine, staff: staff.scheme },
      security: [{ ops: [] }, { staff: [] }],
    });
  });
});
