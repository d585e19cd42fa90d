import { expect, it } from 'vitest';
import { linesOf, read } from './reading.ts';

const head = 'agent_id: x\n';
const moves = 'holdpoint import moves a whole file';

it.each([
  [
    'mcpServers: {a: {command: x}}',
    `warning 2:1 mcpServers | mcpServers: unknown key; it belongs to another product and is mcp.servers here; ${moves}`,
  ],
  [
    'guardrails_path: rules.json',
    `error 2:1 guardrails_path | guardrails_path: unknown key; it belongs to another product and is security.guardrails here; ${moves}`,
  ],
  [
    'security: {pdp: {enabled: true}}',
    'error 2:12 security.pdp | security.pdp: unknown key; it belongs to another product, and calls are judged by the rules under security, not by another service',
  ],
  [
    'egress: {allowed_tcp: ["db:5432"]}',
    'error 2:10 egress.allowed_tcp | egress.allowed_tcp: unknown key; it belongs to another product, and tools reach hosts over HTTP alone',
  ],
  [
    'schedules: []',
    'warning 2:1 schedules | schedules: unknown key; it belongs to another product, and nothing starts tasks by the clock; send them to POST /tasks/send from cron',
  ],
  [
    'mcp: {servers: [{name: a, command: x, tools: {deny: []}, required: true}]}',
    'error 2:58 mcp.servers.0.required | mcp.servers.0.required: unknown key; it belongs to another product, and an agent starts without the tools of a server that it does not reach; check mcp list',
  ],
  [
    'mcp: {servers: [{name: a, command: x, tools: {deny: []}, autoApprove: [b]}]}',
    'warning 2:58 mcp.servers.0.autoApprove | mcp.servers.0.autoApprove: unknown key; it belongs to another product, and the rules under security decide for each call',
  ],
  [
    'model: {provider: gemini, name: m}',
    'error 2:19 model.provider | model.provider: this must be one of scripted, openai, openai-compatible, anthropic, google, ollama; gemini is google here',
  ],
  [
    'auth: {providers: [{type: gcp_iap, settings: {}}]}',
    'error 2:27 auth.providers.0.type | auth.providers.0.type: this must be one of static_token, oidc, http_verifier, directory_ad, cloud_iap, cloud_sigv4; gcp_iap is cloud_iap here',
  ],
])('a key of another product, %s, is answered with our key', (line, problem) => {
  expect(linesOf(read(`${head}${line}\n`))).toContain(problem);
});

it.each([
  [
    'on_restart: resume',
    'error 2:1 on_restart | on_restart: unknown key; it belongs under security.defer',
  ],
  [
    'security: {on_restart: resume}',
    'error 2:12 security.on_restart | security.on_restart: unknown key; it belongs under security.defer',
  ],
  ['enabled: true', 'warning 2:1 enabled | enabled: unknown key; remove it'],
])('names the place of a key in the wrong place: %s', (text, line) => {
  expect(linesOf(read(`agent_id: x\n${text}\n`))).toEqual([line]);
});
