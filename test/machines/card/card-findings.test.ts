import { describe, expect, it } from 'vitest';
import { cardForm, checkCard, schemesOf } from '../../../src/machines/card/check-card.ts';
import type { JsonObject, JsonValue } from '../../../src/machines/json.ts';

const skill = { id: 'a', name: 'A', description: 'does a', tags: ['skill'] };
const common: JsonObject = {
  name: 'desk',
  description: 'Refunds orders',
  version: '1.0.0',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  capabilities: { streaming: true },
  skills: [skill],
};
const older: JsonObject = {
  ...common,
  url: 'https://desk.example.com',
  protocolVersion: '0.3.0',
};
const theInterface = {
  url: 'https://desk.example.com',
  protocolBinding: 'JSONRPC',
  protocolVersion: '1.0',
};
const modern: JsonObject = { ...common, supportedInterfaces: [theInterface] };
const bearer = { type: 'http', scheme: 'bearer' };

const findingsOf = (card: JsonValue) =>
  checkCard(card).map(({ severity, path, message }) => `${severity} ${path} ${message}`);

const without = (card: JsonObject, key: string): JsonObject => {
  const { [key]: _, ...rest } = card;
  return rest;
};

describe('the version of an agent card', () => {
  it.each<[JsonObject, string]>([
    [{ protocolVersion: '0.3.0' }, '0.3'],
    [{ preferredTransport: 'JSONRPC' }, '0.3'],
    [{ url: 'https://desk.example.com' }, '0.3'],
    [{ supportedInterfaces: [] }, '1.0'],
    [{ supportedInterfaces: [], url: 'https://desk.example.com' }, '1.0'],
    [{ supportedInterfaces: [], protocolVersion: '0.3.0' }, 'hybrid'],
    [{ supportedInterfaces: [], preferredTransport: 'JSONRPC' }, 'hybrid'],
    [{ name: 'desk' }, 'unknown'],
  ])('read from %j is %s', (card, form) => {
    expect(cardForm(card)).toBe(form);
  });
});

describe('an agent card of either version', () => {
  it.each([null, [], 'desk', 7])('is invalid when it is %j', (card) => {
    expect(checkCard(card)).toEqual([
      { severity: 'error', path: '', message: 'is no JSON object' },
    ]);
  });

  it('an empty object has a finding for each required field', () => {
    expect(findingsOf({})).toEqual([
      'error name must be a string',
      'error version must be a string',
      'warning description is missing; A2A asks for it',
      'error defaultInputModes must be a list of texts',
      'error defaultOutputModes must be a list of texts',
      'error capabilities must be an object',
      'error skills must be a list',
      'error url must be an http or https URL',
      'error protocolVersion must be the version of 0.3, such as 0.3.0',
    ]);
  });

  it.each<[string, JsonObject, string[]]>([
    ['a name that is not a string', { name: 7 }, ['error name must be a string']],
    [
      'a description that is not a string',
      { description: 7 },
      ['warning description is missing; A2A asks for it'],
    ],
    [
      'a mode that is not a string',
      { defaultInputModes: ['text/plain', 7] },
      ['error defaultInputModes must be a list of texts'],
    ],
    ['no modes', { defaultOutputModes: [] }, ['warning defaultOutputModes is empty']],
    ['extensions', { capabilities: { streaming: true, extensions: [{ uri: 'x' }] } }, []],
    ['two skills', { skills: [skill, { ...skill, id: 'b' }] }, []],
    [
      'skills that are not a list',
      { skills: ['refunds', skill, {}] },
      [
        'error skills[0] must be an object',
        'error skills[2].id must be a string',
        'error skills[2].name must be a string',
        'error skills[2].description must be a string',
        'error skills[2].tags must be a list of texts',
      ],
    ],
  ])('with %s has exactly that finding', (_name, fields, findings) => {
    expect(findingsOf({ ...older, ...fields })).toEqual(findings);
    expect(findingsOf({ ...modern, ...fields })).toEqual(findings);
  });

  it.each([
    ['ftp://desk.example.com', ['error url must be an http or https URL']],
    [['https://desk.example.com'], ['error url must be an http or https URL']],
    ['desk', ['error url must be an http or https URL']],
    ['https://ann@desk.example.com', ['error url must hold no password']],
    ['https://:secret@desk.example.com', ['error url must hold no password']],
    ['http://127.0.0.1:8080', []],
    ['https://127.0.0.1:8080', []],
  ])('at %j reports %j', (url, findings) => {
    expect(findingsOf({ ...older, url })).toEqual(findings);
    expect(findingsOf({ ...modern, supportedInterfaces: [{ ...theInterface, url }] })).toEqual(
      findings.map((finding) => finding.replace('url', 'supportedInterfaces[0].url')),
    );
  });
});

describe('an agent card of version 0.3', () => {
  it.each(['0.3', '0.3.0', '0.30', '0.3.10'])(
    'accepts the protocol version %s',
    (protocolVersion) => {
      expect(findingsOf({ ...older, protocolVersion })).toEqual([]);
    },
  );

  it.each<JsonValue>(['0.', '0.3.', '0.3.x', '10.3.0', '0.3.0-rc', 0.3, null])(
    'refuses the protocol version %j',
    (protocolVersion) => {
      expect(findingsOf({ ...older, protocolVersion })).toEqual([
        'error protocolVersion must be the version of 0.3, such as 0.3.0',
      ]);
    },
  );

  it.each(['JSONRPC', 'GRPC', 'HTTP+JSON'])(
    'accepts the preferred transport %s',
    (preferredTransport) => {
      expect(findingsOf({ ...older, preferredTransport })).toEqual([]);
    },
  );

  it.each(['http', 'apiKey', 'oauth2', 'openIdConnect', 'mutualTLS'])(
    'accepts the security scheme %s',
    (type) => {
      expect(findingsOf({ ...older, securitySchemes: { key: { type } } })).toEqual([]);
    },
  );

  const odd = 'must be one of http, apiKey, oauth2, openIdConnect, mutualTLS';
  it.each<[string, JsonObject, string[]]>([
    [
      'an unknown transport',
      { preferredTransport: null },
      ['error preferredTransport must be JSONRPC, GRPC or HTTP+JSON'],
    ],
    [
      'interfaces that are not a list',
      { additionalInterfaces: {} },
      ['error additionalInterfaces must be a list'],
    ],
    [
      'odd interfaces',
      { additionalInterfaces: ['grpc', { url: 'https://x.example' }, { transport: 'GRPC' }] },
      [
        'error additionalInterfaces[0] must be an object',
        'error additionalInterfaces[1].transport must be a string',
        'error additionalInterfaces[2].url must be an http or https URL',
      ],
    ],
    [
      'security schemes that are not an object',
      { securitySchemes: [bearer] },
      ['error securitySchemes must be an object'],
    ],
    [
      'odd schemes',
      { securitySchemes: { one: null, two: {}, three: bearer } },
      [`error securitySchemes.one.type ${odd}`, `error securitySchemes.two.type ${odd}`],
    ],
    ['a requirement that is not a list', { security: {} }, ['error security must be a list']],
    ['a requirement that is not an object', { security: [null, 'key', {}] }, []],
    [
      'a requirement without security schemes',
      { security: [{}, { key: [] }] },
      ['error security[1] names key, which is none of the securitySchemes'],
    ],
  ])('with %s has exactly that finding', (_name, fields, findings) => {
    expect(findingsOf({ ...older, ...fields })).toEqual(findings);
  });
});

describe('an agent card of version 1.0', () => {
  it.each<[string, JsonObject, string[]]>([
    [
      'interfaces that are not a list',
      { supportedInterfaces: theInterface },
      [
        'error supportedInterfaces must name at least one interface',
        'error supportedInterfaces must be a list',
      ],
    ],
    [
      'odd interfaces',
      { supportedInterfaces: [theInterface, 'grpc', {}] },
      [
        'error supportedInterfaces[1] must be an object',
        'error supportedInterfaces[2].url must be an http or https URL',
        'error supportedInterfaces[2].protocolBinding must be a string',
        'error supportedInterfaces[2].protocolVersion must be a version, such as 1.0',
      ],
    ],
    [
      'requirements that are not a list',
      { securityRequirements: {} },
      ['error securityRequirements must be a list'],
    ],
    ['a requirement that names no scheme', { securityRequirements: [{}] }, []],
    [
      'requirements that are not objects',
      { securityRequirements: [null, 'key'] },
      [0, 1].map(
        (at) =>
          `error securityRequirements[${at}] must have schemes, such as {"schemes": {"bearer": {"list": []}}}`,
      ),
    ],
    [
      'a requirement without security schemes',
      { securityRequirements: [{ schemes: {} }, { schemes: { key: {} } }] },
      ['error securityRequirements[1].schemes names key, which is none of the securitySchemes'],
    ],
  ])('with %s has exactly that finding', (_name, fields, findings) => {
    expect(findingsOf({ ...modern, ...fields })).toEqual(findings);
  });

  it('that also declares 0.3 has the findings of each version', () => {
    const findings = ['preferredTransport', 'supportedInterfaces'];
    expect(
      checkCard({ ...older, preferredTransport: 'SMTP', supportedInterfaces: [] }).map(
        ({ path }) => path,
      ),
    ).toEqual(findings);
  });

  it('that also declares 0.3 needs only the fields of each version', () => {
    expect(findingsOf({ ...modern, ...older })).toEqual([]);
    expect(findingsOf(without({ ...modern, ...older }, 'url'))).toEqual([
      'error url must be an http or https URL',
    ]);
  });
});

describe('the sign-in methods in an agent card', () => {
  it.each<[JsonValue, string]>([
    [bearer, 'http bearer'],
    [{ type: 'http' }, 'http'],
    [{ type: 'http', scheme: 7 }, 'http'],
    [{ type: 'apiKey', in: 'header', name: 'X-Key' }, 'apiKey X-Key'],
    [
      { type: 'openIdConnect', openIdConnectUrl: 'https://id.example' },
      'openIdConnect https://id.example',
    ],
    [{ type: 'oauth2', name: 'x', flows: {} }, 'oauth2'],
    [{ type: 'toString' }, 'toString'],
    [{ mtlsSecurityScheme: {} }, 'mtls'],
    [{ SecuritySchemeOfOurs: {} }, 'SecuritySchemeOfOurs'],
    [{}, 'unknown'],
    [null, 'unknown'],
  ])('are listed: %j becomes %s', (scheme, says) => {
    expect(schemesOf({ securitySchemes: { key: scheme } })).toEqual([{ key: 'key', says }]);
  });

  it.each<JsonValue>([{}, { securitySchemes: [] }, null, []])('are empty for %j', (card) => {
    expect(schemesOf(card)).toEqual([]);
  });
});
