import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseConfig, type ServiceConfig } from '../../../src/actors/config/config.ts';
import type { ScriptDefinition, Skill } from '../../../src/actors/tools/skills/skills.ts';
import { createAgentCapture, createAgentScrub } from '../../../src/agent/start/agent-capture.ts';
import type { TaskFact } from '../../../src/machines/domain/facts.ts';

const key = `sk-${'a1B2'.repeat(8)}`;

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'agent-capture-'));
  mkdirSync(join(directory, '.service'));
  writeFileSync(join(directory, '.service', 'runtime.token'), 'token-of-the-daemon');
});

afterEach(() => rmSync(directory, { recursive: true }));

const written = `agent_id: till
audit: {capture: {tool_result: true}}
auth: {providers: [{type: static_token, name: ops, settings: {token_env: OPS}}]}
credentials:
  - {tool: pay, provider: static, spec: {env: {PAY_KEY: {from_env: VAULT}}}}
`;

const env = {
  OPS: 'token-of-ops',
  VAULT: 'key-of-the-vault',
  SHOP: 'pin-of-the-shop',
  OTHER: 'word-of-nobody',
  AWS_SECRET_ACCESS_KEY: 'key-at-amazon',
};

function config(text = written): ServiceConfig {
  const reading = parseConfig(text, { file: 'service.yaml', env });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.config;
}

const skills = [{ tools: [{ environment: ['SHOP', 'UNSET'] } as ScriptDefinition] } as Skill];

/** What the files of secrets hold, which no key of the configuration names. */
const secretValues = ['secret-of-a-file'];

function captured(result: string): string | undefined {
  const capture = createAgentCapture(
    config(),
    createAgentScrub({ config: config(), skills, directory, env, secretValues }),
  );
  const sizes = { argsSize: 2, resultSize: result.length };
  const fact: TaskFact = {
    type: 'tool.ended',
    outcome: 'succeeded',
    call: {},
    tool: 'pay',
    duration: 1,
    ...sizes,
    result,
  };
  return capture?.(fact).result;
}

describe('createAgentCapture', () => {
  it('is null while nothing is captured', () => {
    const parts = { config: config('agent_id: till\n'), skills, directory, env, secretValues };
    expect(createAgentCapture(parts.config, createAgentScrub(parts))).toBeNull();
  });

  it('contains the secrets of the configuration, of the skills and of the daemon, and no other value', () => {
    expect(captured(Object.values(env).join(' '))).toBe(
      '[redacted:credential] [redacted:credential] [redacted:credential] word-of-nobody [redacted:credential]',
    );
    expect(captured('token-of-the-daemon')).toBe('[redacted:credential]');
    expect(captured('a secret-of-a-file')).toBe('a [redacted:credential]');
  });

  it.each([
    ['alone', key, '[redacted:api_key]'],
    ['after an escape', `{"a":"b\\n${key}"}`, '{"a":"b\\n[redacted:api_key]"}'],
    ['after an escape of an escape', `b\\\\\\n${key}\\t`, 'b\\\\\\n[redacted:api_key]\\t'],
    ['after a code', `b\\u000a${key}`, 'b\\u000a[redacted:api_key]'],
    ['after a backslash', `b\\${key}`, 'b\\[redacted:api_key]'],
    ['that begins like an escape', `b\\npm_${'a1B2c3'.repeat(6)}`, 'b\\[redacted:npm_token]'],
    ['that is no key', 'C:\\new\\table \\\\ \\u12', 'C:\\new\\table \\\\ \\u12'],
  ])('finds a key %s', (_, result, expected) => {
    expect(captured(result)).toBe(expected);
  });

  it('omits contents while the token of the daemon cannot be read', () => {
    rmSync(join(directory, '.service', 'runtime.token'));
    expect(captured('anything')).toBe('[omitted: the search for secrets failed]');
  });
});
