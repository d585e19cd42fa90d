import { expect, it } from 'vitest';
import { unsupportedControls } from '../../../src/actors/config/config.ts';
import { linesOf, read } from './reading.ts';

const layer = 'remove it or set enabled: false';

it.each([
  [
    'audit: {signing: {enabled: true}}',
    'error 2:28 audit.signing.enabled',
    'signing of the audit log',
    layer,
  ],
  [
    'model: {provider: openai}',
    'error 2:19 model.provider',
    'a model provider other than scripted',
    'remove it',
  ],
  [
    'builtin_tools: [uuid_generate, datetime_now, http_request]',
    'error 2:46 builtin_tools.2',
    'a builtin tool other than datetime_now and uuid_generate',
    'remove it',
  ],
  ['channels: [slack]', 'warning 2:11 channels', 'delivery through channels', 'remove it'],
  ['egress: {}', 'warning 2:9 egress', 'the confinement of scripts to egress rules', 'remove it'],
  [
    'observability: {tracing: {enabled: true}}',
    'warning 2:36 observability.tracing.enabled',
    'tracing',
    layer,
  ],
  [
    'workflow_propagation: {allowed_hosts: [a.example]}',
    'warning 2:23 workflow_propagation',
    'workflow propagation',
    'remove it',
  ],
  [
    'card: {security_schemes: {a: {}}}',
    'warning 2:26 card.security_schemes',
    'setting security schemes of the card by hand',
    'remove it',
  ],
  [
    'model: {fallbacks: [{provider: ollama, name: m}]}',
    'warning 2:20 model.fallbacks',
    'fallback to another model',
    'remove it',
  ],
  [
    'audit: {capture: {tool_args: true}}',
    'warning 2:18 audit.capture',
    'capture of contents in the audit log',
    'remove it',
  ],
  ['secrets: {}', 'warning 2:10 secrets', 'the store of secrets', 'remove it'],
])('tells that this version cannot do %s', (text, place, thing, remedy) => {
  expect(linesOf(read(`agent_id: x\n${text}`))).toEqual([
    `${place} | ${thing} is not available in this version; ${remedy}`,
  ]);
});

it('finds nothing in the defaults', () => {
  const reading = read('agent_id: x');
  expect(reading.ok && unsupportedControls(reading.config)).toEqual([]);
});
