import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardForm, checkCard, schemesOf } from '../../../src/machines/card/check-card.ts';
import type { JsonObject, JsonValue } from '../../../src/machines/json.ts';

const common = {
  name: 'desk',
  description: 'Refunds orders',
  version: '1.0.0',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  capabilities: { streaming: true },
  skills: [{ id: 'a', name: 'A', description: 'does a', tags: ['skill'] }],
};
const older: JsonObject = {
  ...common,
  url: 'https://desk.example.com',
  protocolVersion: '0.3.0',
  preferredTransport: 'JSONRPC',
  securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
  security: [{ key: [] }],
};
const modern: JsonObject = {
  ...common,
  supportedInterfaces: [
    { url: 'https://desk.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
  ],
  securitySchemes: { key: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
  securityRequirements: [{ schemes: { key: {} } }],
};

describe('an agent card', () => {
  it('is recognized by its fields, and a valid card has no finding', () => {
    const hybrid = { ...modern, ...older };
    expect(
      [older, modern, hybrid, {}, [], null].map((card) => cardForm(card as JsonValue)),
    ).toEqual([...['0.3', '1.0', 'hybrid', 'unknown', 'unknown', 'unknown']]);
    expect([older, modern, hybrid].map((card) => checkCard(card))).toEqual([[], [], []]);
    expect([older, modern].map(schemesOf)).toEqual([
      [{ key: 'key', says: 'http bearer' }],
      [{ key: 'key', says: 'httpAuth' }],
    ]);
  });

  it.each<[string, JsonObject, string]>([
    ['no name', { ...older, name: '' }, 'error name must be a string'],
    [
      'no description',
      { ...older, description: '' },
      'warning description is missing; A2A asks for it',
    ],
    [
      'a file as its URL',
      { ...older, url: 'file:///etc' },
      'error url must be an http or https URL',
    ],
    ['a password', { ...older, url: 'https://a:b@x.example' }, 'error url must hold no password'],
    [
      'http',
      { ...older, url: 'http://desk.example.com' },
      'warning url is not https, so what is sent there can be read on the way',
    ],
    [
      'another version',
      { ...older, protocolVersion: '2' },
      'error protocolVersion must be the version of 0.3, such as 0.3.0',
    ],
    [
      'an unknown transport',
      { ...older, preferredTransport: 'SMTP' },
      'error preferredTransport must be JSONRPC, GRPC or HTTP+JSON',
    ],
    [
      'a malformed scheme',
      { ...older, securitySchemes: { key: { type: 'x' } } },
      'error securitySchemes.key.type must be one of http, apiKey, oauth2, openIdConnect, mutualTLS',
    ],
    [
      'an unknown scheme',
      { ...older, security: [{ toString: [] }] },
      'error security[0] names toString, which is none of the securitySchemes',
    ],
    [
      'a capability that is a string',
      { ...older, capabilities: { streaming: 'yes' } },
      'error capabilities.streaming must be true or false',
    ],
    [
      'two skills with one id',
      { ...older, skills: [...common.skills, ...common.skills] },
      'error skills[1].id is the id of another skill too',
    ],
    [
      'a skill without tags',
      { ...older, skills: [{ ...common.skills[0]!, tags: [] }] },
      'warning skills[0].tags is empty',
    ],
    [
      'no interface',
      { ...modern, supportedInterfaces: [] },
      'error supportedInterfaces must name at least one interface',
    ],
    [
      'an interface without a version',
      {
        ...modern,
        supportedInterfaces: [{ url: 'https://x.example', protocolBinding: 'JSONRPC' }],
      },
      'error supportedInterfaces[0].protocolVersion must be a version, such as 1.0',
    ],
    [
      'an unknown requirement',
      { ...modern, securityRequirements: [{ schemes: { other: {} } }] },
      'error securityRequirements[0].schemes names other, which is none of the securitySchemes',
    ],
    [
      'a requirement in the older form',
      { ...modern, securityRequirements: [{ bearer: [] }] },
      'error securityRequirements[0] must have schemes, such as {"schemes": {"bearer": {"list": []}}}',
    ],
    [
      'the version 1.0 without an interface',
      { ...common, protocolVersion: '1.0' },
      'error supportedInterfaces must name at least one interface',
    ],
  ])('with %s has a finding', (_, card, finding) => {
    expect(
      checkCard(card).map(({ severity, path, message }) => `${severity} ${path} ${message}`),
    ).toEqual([finding]);
  });

  it('of any shape is checked without an exception, and many findings are cut', () => {
    const keys = fc.constantFrom(
      'skills',
      'security',
      'securitySchemes',
      'supportedInterfaces',
      'url',
    );
    fc.assert(
      fc.property(fc.dictionary(keys, fc.jsonValue()), (card) => {
        checkCard(card as JsonValue);
        schemesOf(card as JsonValue);
      }),
    );
    const skills = Array.from({ length: 10_000 }, () => ({}));
    expect(checkCard({ ...older, skills })).toHaveLength(200);
  });
});
