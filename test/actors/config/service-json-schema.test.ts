import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { editorSchema, parseConfig } from '../../../src/actors/config/config.ts';
import type { JsonSchema } from '../../../src/actors/config/json-schema.ts';
import { runs } from '../../helpers/runs.ts';

const schema = editorSchema('service.yaml');
const ajv = new Ajv({ strict: true, allErrors: true });
const validate = ajv.compile(schema);
const env = { SERVICE_TOKEN: 'token-of-ops', MODE: 'deny-all', WAIT: '5m', KIND: 'static_token' };

function isTaken(text: string): boolean {
  return parseConfig(text, { file: 'service.yaml', env }).ok;
}

function faults(text: string): string[] {
  return validate(parse(text))
    ? []
    : (validate.errors ?? []).map(({ instancePath }) => instancePath);
}

describe('the JSON Schema of service.yaml', () => {
  it('is valid draft-07', () => {
    expect(ajv.validateSchema(schema as object)).toBe(true);
    expect(schema).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      $id: 'https://raw.githubusercontent.com/holdpoint/holdpoint/main/schema/service.schema.json',
      title: 'agent of Holdpoint',
      required: ['agent_id'],
    });
  });

  it('accepts the refund agent', () => {
    const text = readFileSync(
      new URL('../../../examples/refunds/service.yaml', import.meta.url),
      'utf8',
    );
    expect(faults(text)).toEqual([]);
  });

  it('writes durations as users do', () => {
    const { default: usual } = at(schema, ['security', 'defer', 'default_timeout']);
    expect(usual).toBe('10m');
    expect(at(schema, ['store', 'retention']).default).toBe('7d');
  });

  it.each([
    'agent_id: Refunds',
    'version: 1.0.0',
    'agent_id: a\nversion: 1.2',
    'agent_id: a\negress: {mode: open}',
    'agent_id: a\negress: {allowed_domain: [a.example.com]}',
    'agent_id: a\negress:',
    'agent_id: a\nsecurity: {defer: {enabled: true, tools: {t: {timeout: 5m}}}}',
    'agent_id: a\nsecurity: {defer: {enabled: true, tools: {t: {to: nobody}}}}',
    'agent_id: a\nsecurity: {defer: {enabled: true, default_timeout: 5}}',
    'agent_id: a\nsecurity: {defer: {enabled: true, default_timeout: 5 minutes}}',
    'agent_id: a\nstore: {retention: "$${WAIT}"}',
    'agent_id: a\nstore: {retention: "${}"}',
    'agent_id: a\nsecurity: {policy: {include: [{url: "https://a.example/p.yaml", sha256: abc}]}}',
    'agent_id: a\naudit: {rotation: {max_bytes: -1}}',
    'agent_id: a\nsecurity: {defer: {enabled: true, tools: {t: {to: "channel:console:*", quorum: 0}}}}',
    'agent_id: a\nsecurity: {defer: {enabled: yes please}}',
    'agent_id: a\nsecurity: {defr: {}}',
    'agent_id: a\nauth: {providers: [{type: oidc}]}',
    'agent_id: a\nauth: {providers: [{type: oidc, issuer: "https://id.example.com"}]}',
    'agent_id: a\nauth: {providers: [{type: static_token, token_env: SERVICE_TOKEN}]}',
    'agent_id: a\nauth: {providers: [{type: password}]}',
    'agent_id: a\naudit: {rotation: {keep: -1}}',
    'agent_id: a\naudit: {signing: {key_env: "${KEY}"}}',
    'agent_id: a\naudit: {sinks: [{type: http}]}',
    'agent_id: a\nserver: {rate_limit: {read_burst: 1.5}}',
    'agent_id: a\nbuiltin_tools: [teleport]',
    'agent_id: a\nmodel: {script: [{tool: t, args: [1]}]}',
    'agent_id: a\nstore: {retention: soon}',
    '- agent_id: a',
  ])('refuses what the daemon refuses: %s', (text) => {
    expect(isTaken(text)).toBe(false);
    expect(faults(text)).not.toEqual([]);
  });

  it.each([
    'agent_id: a\nnote: an unknown key is a warning here',
    'agent_id: a\negress: {mode: "${MODE}"}',
    'agent_id: a\nsecurity: {defer: {enabled: true, default_timeout: "${WAIT}", tools: {t: {to: "channel:console:*"}}}}',
    'agent_id: a\nauth: {providers: [{type: "${KIND}", settings: {token: "${SERVICE_TOKEN}"}}]}',
    'agent_id: a\nsecurity: {defer: {tools: {t: {}}}}',
    'agent_id: a\nsecurity: {defer: {enabled: false, tools: {t: {to: nobody, quorum: 0}}}}',
    'agent_id: a\nsecurity: {defer: {enabled: true, tools: {t: {to: ["channel:console:*"]}}}}',
    'agent_id: a\nserver: {write_timeout: "0"}',
    'agent_id: a\nsecurity: {step_up: {tools: {t: {acr: ""}}}}',
  ])('accepts what the daemon accepts: %s', (text) => {
    expect(isTaken(text)).toBe(true);
    expect(faults(text)).toEqual([]);
  });

  it('accepts every file that the daemon accepts', { timeout: 120_000 }, () => {
    let taken = 0;
    const check = (service: unknown) => {
      const text = stringify(service);
      if (!isTaken(text)) return;
      taken += 1;
      expect([text, faults(text)]).toEqual([text, []]);
    };
    fc.assert(fc.property(files, check), { numRuns: runs(2_000) });
    expect(taken).toBeGreaterThan(runs(200));
  });
});

/** What is at a place of the schema. */
function at(from: JsonSchema, path: readonly string[]): JsonSchema {
  return path.reduce((one, key) => one.properties?.[key] ?? {}, from);
}

/** Files of a few keys each, most of their values such as the schema asks for. */
const files = fc
  .record({ agent_id: fc.constantFrom('a', 'refund-desk', 'A b', '${MODE}') })
  .chain((start) =>
    fc
      .array(fc.constantFrom(...Object.keys(schema.properties ?? {})), { maxLength: 3 })
      .chain((keys) =>
        fc
          .record(
            Object.fromEntries(keys.map((key) => [key, valueOf(schema.properties?.[key] ?? {})])),
          )
          .map((rest): Record<string, unknown> => ({ ...rest, ...start })),
      ),
  );

const oddities = fc.constantFrom<unknown>(
  null,
  '',
  ' ',
  'text',
  '${WAIT}',
  0,
  -1,
  2.5,
  true,
  [],
  {},
);

/** Values that a schema asks for, and now and then one that it does not. */
function valueOf(asked: JsonSchema): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 30, arbitrary: fitting(asked) }, { weight: 1, arbitrary: oddities });
}

function fitting(asked: JsonSchema): fc.Arbitrary<unknown> {
  const { anyOf, enum: choices, const: only, properties, items, additionalProperties } = asked;
  const shown = [...(asked.examples ?? []), asked.default].filter((value) => value !== undefined);
  const usual = shown.length > 0 ? [fc.constantFrom(...shown)] : [];
  if (only !== undefined) return fc.constant(only);
  if (choices) return fc.constantFrom(...choices);
  if (properties) {
    const keys = Object.entries(properties).map(([key, child]) => [key, valueOf(child)] as const);
    const required = (asked.required ?? []).filter((key) => Object.hasOwn(properties, key));
    return fc.record(Object.fromEntries(keys), { requiredKeys: required });
  }
  if (anyOf) return fc.oneof(...usual, ...anyOf.map(valueOf));
  if (items) return fc.oneof(...usual, fc.array(valueOf(items), { maxLength: 2 }));
  if (typeof additionalProperties === 'object') {
    const names = fc.constantFrom('t', 'pay-out');
    return fc.dictionary(names, valueOf(additionalProperties), { maxKeys: 2 });
  }
  switch (asked.type) {
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.oneof(...usual, fc.integer({ min: 0, max: 100_000 }));
    case 'number':
      return fc.oneof(...usual, fc.constantFrom(-1, 0, 0.5, 1, 30));
    case 'string':
      return fc.oneof(...usual, fc.constantFrom('5m', 'channel:console:*', 'TOKEN', 'refunds'));
    default:
      return fc.oneof(...usual, fc.constantFrom({}, { key: 'value' }));
  }
}
