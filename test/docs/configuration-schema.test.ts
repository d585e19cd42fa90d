import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { exampleOf, type Key, keysOf, pathText } from '../../scripts/configuration/keys.ts';
import { describedFiles } from '../../scripts/configuration/page.ts';
import { editorSchema, filesWithSchema, parseConfig } from '../../src/actors/config/config.ts';
import type { JsonSchema } from '../../src/actors/config/json-schema.ts';
import { anEmptyPolicy } from '../helpers/empty-policy.ts';
import { environmentOfExamples, fileWith } from './key-files.ts';

const fits = new Ajv({ strict: true }).compile(editorSchema('service.yaml') as object);
const { 'service.yaml': service = {} } = describedFiles();
const keys = keysOf(service);
const env = { ...environmentOfExamples, OPENAI_API_KEY: 'key-of-the-embedder' };

/** Values that a slip of the keyboard or a wrong type leaves in place of a setting. */
const slips: unknown[] = [
  ...['5 minutes', '-5m', '', 'nonsense value', '$${A}'],
  ...[-1, 1.5, 1e12, true, null, [], {}, ['x y'], [1], { 'a b': 1 }],
];

/** Keys whose values are addresses, hosts, networks, programs, patterns, or names that only the daemon can resolve. */
const addresses = [
  'tools[].config.base_url',
  'tools[].config.commands',
  'mcp.servers[].url',
  'mcp.servers[].auth.issuer',
  'mcp.servers[].auth.resource',
  'mcp.views[].for',
  'egress.allowed_domains',
  'egress.allowed_private_cidrs',
  'egress.allowed_private',
  'workflow_propagation.allowed_hosts',
  'approvals.public_url',
  'approvals.sign_in.issuer',
  'approvals.push_services',
  'auth.dashboard_issuer',
  'auth.providers[].settings.issuer',
  'auth.providers[].settings.jwks_url',
  'auth.providers[].settings.url',
  'auth.providers[].settings.authority',
  'auth.providers[].settings.sts_url',
  'server.public_url',
  'server.cors_origins',
  'server.rate_limit.trusted_proxies',
  'security.modify.tools.<name>.arguments[].replace.pattern',
  'security.modify.tools.<name>.arguments[].replace.with',
  'security.modify.tools.<name>.output[].replace.pattern',
  'security.modify.tools.<name>.output[].replace.with',
  'security.guardrails.deny_commands[].pattern',
  'security.guardrails.deny_prompts[].pattern',
  'security.guardrails.deny_output[].pattern',
  'security.guardrails.redact',
  'security.intent_alignment.base_url',
  'security.defer.tools.<name>.context_template',
  'audit.sinks[].url',
  'store.url_env',
];

/** Keys that are refused because of another key, not because of their own value. */
const severalKeys = [
  'gate.acs.secrets',
  'mcp.servers[].tools',
  'approvals.sign_in.scopes',
  'auth.providers[].settings.token',
  'security.intent_alignment.drift.monotone_n',
  'security.step_up',
  'security.step_up.tools.<name>.when',
  'security.step_up.tools.<name>.shadow',
  'security.step_up.tools.<name>.acr',
  'security.step_up.tools.<name>.optional',
  'security.step_up.acr_hierarchy',
  'security.defer',
  'security.defer.default_approvers',
  'security.defer.bind_approver',
  'security.defer.tools.<name>.approvers',
  'security.defer.tools.<name>.quorum',
  'security.defer.tools.<name>.require_passkey',
  'credentials[].spec',
];

/** A file with one key, in a layer that is on. */
function textWith(key: Key, value: unknown): string {
  const file = fileWith(key, value) as { security?: Record<string, { enabled?: boolean }> };
  const [section, layer = '', setting] = key.path;
  const layerSettings = section === 'security' ? file.security?.[layer] : undefined;
  if (setting !== 'enabled' && layer !== 'policy' && isMap(layerSettings)) {
    layerSettings.enabled = true;
  }
  return stringify(file);
}

function isMap(value: unknown): value is { enabled?: boolean } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isAccepted(text: string): boolean {
  return parseConfig(text, { file: 'service.yaml', env, readInclude: anEmptyPolicy }).ok;
}

describe('the schema of service.yaml', () => {
  const answers = keys.flatMap((key) =>
    [...slips, exampleOf(key)].map((value, index) => {
      const text = textWith(key, value);
      const path = pathText(key.path);
      const isSlip = index < slips.length;
      return { path, isSlip, text, inEditor: fits(parse(text)), here: isAccepted(text) };
    }),
  );

  it('refuses each error that the daemon refuses, except for addresses and rules of several keys', () => {
    const open = answers.filter(({ isSlip, inEditor, here }) => isSlip && inEditor && !here);
    const paths = [...new Set(open.map(({ path }) => path))].toSorted();
    expect(paths).toEqual([...addresses, ...severalKeys].toSorted());
  });

  it('accepts each error that the daemon accepts, and each example', () => {
    const refused = answers.filter(({ inEditor, here }) => !inEditor && here);
    expect(refused.map(({ text }) => text)).toEqual([]);
  });
});

describe('the schemas for editors', () => {
  it.each(filesWithSchema)('describe each key, and show an example of each string: %s', (file) => {
    const schema = editorSchema(file);
    expect(() => new Ajv({ strict: true }).compile(schema as object)).not.toThrow();
    const bare = keysOf(schema).filter(
      ({ schema: { description, examples, default: usual, ...rules } }) => {
        const isText = rules.type === 'string' && rules.enum === undefined && !isConstant(rules);
        return (
          description === undefined || (isText && examples === undefined && usual === undefined)
        );
      },
    );
    expect(bare.map(({ path }) => pathText(path))).toEqual([]);
  });
});

function isConstant(schema: JsonSchema): boolean {
  return schema.const !== undefined;
}
