import { describe, expect, it } from 'vitest';
import { happeningOf, happeningsOf } from '../../../../../src/ui/dashboard/views/task/happening.ts';

const inWords = (event: string, fields: Record<string, unknown> = {}) => {
  const { tone, says, about, detail } = happeningOf({
    seq: 1,
    at: '2026-11-22T12:00:00.000Z',
    event,
    fields,
  });
  return `${tone}: ${[says, about].filter((part) => part !== null).join(' ')} (${detail})`;
};

const tool = 'issue_refund';

describe('happeningsOf', () => {
  const at = '2026-11-22T12:00:00.000Z';
  const entry = (event: string, fields: Record<string, unknown> = {}) => ({
    ...{ seq: 1, at, event, fields },
  });
  const told = (...entries: ReturnType<typeof entry>[]) =>
    happeningsOf(entries)
      .filter((_, index) => entries[index]?.event === 'llm_call')
      .map(({ says, about }) => (about === null ? says : `${says} ${about}`));

  it('names the tools that each model turn requested, once and in order', () => {
    expect(
      told(
        entry('llm_call'),
        entry('tool_exec', { tool: 'lookup_order', phase: 'start' }),
        entry('tool_exec', { tool: 'lookup_order', phase: 'end' }),
        entry('task_deferred', { tool }),
        entry('llm_call'),
        entry('session_end', { state: 'completed' }),
      ),
    ).toEqual(['Model requested lookup_order, issue_refund', 'Model responded']);
  });

  it('assigns a turn nothing of another run, and nothing to a failed one', () => {
    expect(
      told(
        entry('llm_call'),
        entry('session_start'),
        entry('tool_exec', { tool, phase: 'start' }),
        entry('llm_call', { error: 'timeout' }),
        entry('tool_exec', { tool, phase: 'start' }),
      ),
    ).toEqual(['Model responded', 'Model failed']);
  });
});

describe('happeningOf', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['session_start', {}, 'plain: Accepted ()'],
    ['session_end', { state: 'failed', reason: 'turns_limit' }, 'deny: Failed (turns limit)'],
    [
      'llm_call',
      { duration_ms: 1_300, input_tokens: 1_812, output_tokens: 64, model: 'demo' },
      'plain: Model responded (1.3 s, 1,812 in, 64 out, demo)',
    ],
    [
      'context_compacted',
      { results: 2, messages: 1, turns: 0, tokens_before: 120_000, tokens_after: 99_000 },
      'modify: Context trimmed: (2 results, 1 messages, 0 turns, 120,000 tokens before, 99,000 after)',
    ],
    [
      'policy_loaded',
      { version: '1.0.0', layers: ['defer'], deferred_tools: ['pay'], egress: 'allowlist' },
      'plain: Policy loaded (version 1.0.0, layers: defer, held: pay, egress allowlist)',
    ],
    ['auth_verify', { user_id: 'ann', provider: 'oidc' }, 'plain: Signed in: ann (by oidc)'],
    ['auth_fail', { reason: 'bad_token', count: 3 }, 'deny: Sign-in refused (bad token, 3 times)'],
    [
      'agent_card_published',
      { name: 'till', version: '1.0.0', skill_count: 2 },
      'plain: Agent card published till (version 1.0.0, 2 skills)',
    ],
    [
      'guardrail_check',
      { gate: 'deny_commands', decision: 'deny', tool, rule: 'rm -rf' },
      'deny: Guardrail denied issue_refund (deny commands, rm -rf)',
    ],
    [
      'tool_call_modified',
      { tool, part: 'arguments', rules: [2] },
      'modify: Arguments changed: issue_refund (by rule 2)',
    ],
    [
      'tool_exec',
      { tool, phase: 'end', duration_ms: 174, args_size: 12, result_size: 2_220 },
      'allow: Ran issue_refund (174 ms, 2,220 bytes back)',
    ],
    [
      'tool_exec',
      { tool, phase: 'end', duration_ms: 9, error: 'exit code 1' },
      'deny: Failed: issue_refund (9 ms, exit code 1)',
    ],
    [
      'task_deferred',
      { tool, to: 'channel:slack:#refunds', timeout_ms: 300_000, approvers: ['a@example.com'] },
      'hold: Held: issue_refund (asks channel:slack:#refunds, 5:00 to decide, approvers: a@example.com)',
    ],
    [
      'task_deferred_decision',
      {
        tool,
        decision: 'approve',
        approver: 'carol@example.com',
        source: 'slack',
        note: 'fine',
        wait_ms: 45_000,
      },
      'allow: carol@example.com approved issue_refund (in slack, after 45 s, “fine”)',
    ],
    [
      'task_deferred_decision',
      { tool, decision: 'approve', approver: 'mallory', authorized: false, note: '' },
      'deny: mallory is not allowed to decide on issue_refund ()',
    ],
    [
      'egress_blocked',
      { domain: 'evil.test', reason: 'not listed' },
      'deny: Blocked request to evil.test (not listed)',
    ],
    ['something_new', { a: 1, b: 'x' }, 'plain: something_new (a 1, b x)'],
    ['constructor', {}, 'plain: constructor ()'],
  ])('describes %s %j', (event, fields, said) => {
    expect(inWords(event, fields)).toBe(said);
  });
});
