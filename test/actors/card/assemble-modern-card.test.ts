import { AgentCard } from '@a2a-js/sdk';
import { expect, it } from 'vitest';
import { assembleModernCard } from '../../../src/actors/card/assemble-modern-card.ts';
import { aSkill, everyInterface, someParts } from './card-fixtures.ts';

const parts = someParts({
  description: 'Handles refunds',
  skills: [aSkill('b', { tags: ['orders'] }), aSkill('a')],
  interfaces: everyInterface,
  declared: [
    { key: 'ops', provider: 'static_token', scheme: { type: 'http', scheme: 'bearer' } },
    {
      key: 'proxy',
      provider: 'cloud_iap',
      scheme: { type: 'apiKey', in: 'header', name: 'X-Cloud-Iap-Jwt-Assertion' },
    },
    {
      key: 'staff',
      provider: 'oidc',
      scheme: { type: 'openIdConnect', openIdConnectUrl: 'https://x/y' },
    },
  ],
  written: {
    partner: {
      type: 'oauth2',
      flows: {
        clientCredentials: { tokenUrl: 'https://x/token', scopes: { read: 'reads' } },
      },
    },
    mesh: { type: 'mutualTLS', description: 'certificates of the mesh' },
    odd: { type: 'morse' },
    none: 'nothing',
  },
});

it('the 1.0 card has the content of the 0.3.0 card', () => {
  expect(assembleModernCard(parts)).toStrictEqual({
    name: 'refunds',
    description: 'Handles refunds',
    supportedInterfaces: [
      { url: 'http://127.0.0.1:8080', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'http://127.0.0.1:8080/a2a', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: 'http://127.0.0.1:8080', protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
      { url: 'http://127.0.0.1:8080', protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ],
    version: '0.0.0',
    capabilities: { streaming: true, pushNotifications: false },
    securitySchemes: {
      ops: { httpAuthSecurityScheme: { scheme: 'bearer' } },
      proxy: { apiKeySecurityScheme: { location: 'header', name: 'X-Cloud-Iap-Jwt-Assertion' } },
      staff: { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://x/y' } },
      partner: {
        oauth2SecurityScheme: {
          flows: { clientCredentials: { tokenUrl: 'https://x/token', scopes: { read: 'reads' } } },
        },
      },
      mesh: { mtlsSecurityScheme: { description: 'certificates of the mesh' } },
    },
    securityRequirements: [
      { schemes: { ops: {} } },
      { schemes: { proxy: {} } },
      { schemes: { staff: {} } },
      { schemes: { partner: {} } },
      { schemes: { mesh: {} } },
    ],
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [aSkill('a'), aSkill('b', { tags: ['orders'] })],
  });
});

it('the official library reads and writes the 1.0 card without loss', () => {
  const card = assembleModernCard(parts);
  expect(AgentCard.toJSON(AgentCard.fromJSON(card))).toEqual(card);
});
