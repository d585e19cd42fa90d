import { describe, expect, it } from 'vitest';
import { readGuardrails } from '../../../src/agent/policy/agent-guardrails.ts';
import { linesOf, read } from './reading.ts';

function linesFor(section: string, env: Record<string, string> = {}): string[] {
  return linesOf(read(`agent_id: x\n${section}\n`, env));
}

describe('a layer that is off', () => {
  it.each([
    'security: {guardrails: {enabled: false, deny_commands: [{pattern: "("}]}}',
    'security: {modify: {enabled: false, tools: {t: {output: [{replace: {pattern: "(", with: x}}]}}}}',
    'security: {intent_alignment: {enabled: false, provider: openai-compatible}}',
  ])('is not checked: %s', (section) => {
    expect(linesFor(section)).toEqual([]);
  });
});

describe('the rules of a layer', () => {
  it.each([
    [
      'security: {guardrails: {enabled: true, deny_commands: [{pattern: rm}, {pattern: "("}]}}',
      'error 2:81 security.guardrails.deny_commands.1.pattern',
    ],
    [
      'security: {guardrails: {enabled: true, deny_output: [{pattern: "a(?=b)", action: block}]}}',
      'error 2:64 security.guardrails.deny_output.0.pattern',
    ],
    [
      'security: {guardrails: {enabled: true, redact: [emial]}}',
      'error 2:49 security.guardrails.redact.0',
    ],
    [
      'security: {modify: {enabled: true, tools: {t: {arguments: [{path: a..b, set: 1}]}}}}',
      'error 2:67 security.modify.tools.t.arguments.0.path',
    ],
    [
      'security: {modify: {enabled: true, tools: {t: {output: [{replace: {pattern: "(", with: x}}]}}}}',
      'error 2:77 security.modify.tools.t.output.0.replace.pattern',
    ],
    [
      'security: {intent_alignment: {enabled: true, provider: openai-compatible, base_url: nowhere}}',
      'error 2:85 security.intent_alignment.base_url',
    ],
    [
      'security: {intent_alignment: {enabled: true, provider: local, drift: {window: 2, monotone_n: 3}}}',
      'error 2:94 security.intent_alignment.drift.monotone_n',
    ],
    [
      'credentials: [{tool: t, provider: static, spec: {env: {PATH: {from_env: A}}}}]',
      'error 2:62 credentials.0.spec.env.PATH',
    ],
    [
      'security: {defer: {enabled: true, tools: {t: {to: "channel:console:*", escalate_to: boss}}}}',
      'error 2:85 security.defer.tools.t.escalate_to',
    ],
    [
      'security: {defer: {enabled: true, tools: {t: {to: "channel:console:*", escalate_to: "channel:telegram:x"}}}}',
      'error 2:85 security.defer.tools.t.escalate_to',
    ],
  ])('are refused where they are malformed: %s', (section, place) => {
    const lines = linesFor(section, { A: 'value-of-a' });
    expect(lines.map((line) => line.split(' | ')[0])).toEqual([place]);
  });

  it('accept exactly one action for each argument rule', () => {
    expect(
      linesFor(
        'security: {modify: {enabled: true, tools: {t: {arguments: [{path: a, set: 1, remove: true}]}}}}',
      ),
    ).toEqual([
      'error 2:60 security.modify.tools.t.arguments.0 | security.modify.tools.t.arguments.0: a rule must be {path, set}, {path, remove: true} or {path, replace: {pattern, with}}',
    ]);
  });

  it('are accepted when all are valid', () => {
    const section = `security:
  intent_alignment: {enabled: true, provider: local, threshold: 0, hard_threshold: -1, drift: {}}
  guardrails:
    enabled: true
    deny_commands: [{pattern: 'rm\\s+-rf', message: no deleting}]
    deny_prompts: [{pattern: '(?i)ignore previous'}]
    deny_output: [{pattern: 'BEGIN KEY', action: block}, {pattern: 'id-\\d+', action: redact}]
    denied_tools: [cli_execute]
    redact: [secrets, pii]
  modify:
    enabled: true
    tools:
      t:
        arguments: [{path: amount, set: 5}, {path: items.0.name, remove: true}]
        output: [{replace: {pattern: '\\d{16}', with: '****'}}]
  defer:
    enabled: true
    on_reject: tool_result
    tools: {t: {to: 'channel:console:*', remind: true, escalate_to: 'channel:dashboard:*'}}
credentials: [{tool: t, provider: static, spec: {env: {SHOP_KEY: {from_env: A}}}}]`;
    expect(linesFor(section, { A: 'value-of-a' })).toEqual([]);
  });
});

it('guardrails without enabled are off, with a warning', () => {
  expect(linesFor('security: {guardrails: {denied_tools: [cli_execute]}}')).toEqual([
    'warning 2:24 security.guardrails.enabled | security.guardrails.enabled is missing, so its rules have no effect; add enabled: true, or false if that is meant',
  ]);
});

describe('the rules of active layers', () => {
  it('run as they were compiled by the check', () => {
    const reading = read(`agent_id: x
security:
  guardrails: {enabled: true, deny_commands: [{pattern: rm}]}
  modify: {enabled: true, tools: {t: {arguments: [{path: a, set: 1}]}}}
`);
    if (!reading.ok) throw new Error('the rules stand');
    const { guardrails, modify } = reading.layers;
    expect(guardrails?.checkCall('t', { a: 'rm' }).denial).toBe('denied by guardrail: rm');
    expect(modify?.modifyArguments('t', { a: 2 }, [{ tool: 't', index: 0 }])).toEqual({
      args: { a: 1 },
      applied: [1],
    });
    const governing = readGuardrails(reading.config.security.guardrails, guardrails, []);
    expect(governing).toEqual({ guardrails, problems: [] });
    expect(governing.guardrails).toBe(guardrails);
  });

  it('are not compiled while their layers are off', () => {
    const off =
      'security: {guardrails: {enabled: false, denied_tools: [t]}, modify: {enabled: false}}';
    expect(read(`agent_id: x\n${off}\n`)).toMatchObject({
      ok: true,
      layers: { guardrails: null, modify: null },
    });
  });
});
