import { describe, expect, it } from 'vitest';
import { compileGuardrails } from '../../../../src/actors/governance/guardrails/guardrails.ts';
import { compileModify } from '../../../../src/actors/governance/modify/modify.ts';
import { createPolicy } from '../../../../src/actors/governance/policy/policy.ts';
import { securitySchema } from '../../../../src/actors/governance/settings/schema-security.ts';
import { renderContext } from '../../../../src/machines/governance/defer-policy.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import { aCall, aCaller, aTaskInput } from '../../../helpers/task-fixtures.ts';

const plain = {
  judgesIntent: false,
  drift: null,
  requiredAcr: null,
  acrHierarchy: [],
  credential: null,
  modifies: false,
};
const off = {
  ...{ isAuthOn: false, guardrails: null, modify: null, credentials: null },
  scrub: (text: string) => text,
};
const pay = toolCalled('pay');
const hold = { to: 'channel:console:*' };
const tools = new Map([['pay', pay]]);

function rulesOf(defer: object, args = {}) {
  const security = securitySchema.parse({ defer: { enabled: true, ...defer } });
  return createPolicy({ security, tools, ...off }).rulesFor(aCall({ tool: 'pay', args }));
}

describe('the policy of a configuration', () => {
  it('allows a tool that is not listed', () => {
    expect(rulesOf({ tools: { other: hold } })).toEqual({ ...plain, refusal: null, defer: null });
  });

  it('holds a listed tool, with the defaults of the document', () => {
    expect(rulesOf({ tools: { pay: hold } })).toEqual({
      ...plain,
      refusal: null,
      defer: {
        to: ['channel:console:*'],
        timeout: 600_000,
        contextTemplate: 'tool={tool} args={args}',
        approvers: null,
        quorum: 1,
        bindApprover: false,
        distinctCallers: false,
        onReject: 'fail',
        remind: false,
        escalateTo: null,
      },
    });
  });

  it('uses all settings of a tool', () => {
    const own = {
      to: 'channel:slack:#refunds',
      timeout: '90s',
      context_template: 'pay {args}',
      approvers: [' Ann@Example.com ', ''],
      quorum: 2,
      four_eyes: true,
      require_reason: 'both' as const,
      remind: true,
      display: ['args.amount', 'args.order.id'],
      escalate_to: 'channel:console:managers',
    };
    const beyond = { bind_approver: true, on_reject: 'tool_result' };
    const defer = { default_timeout: '5m', ...beyond, tools: { pay: own } };
    expect(rulesOf(defer).defer).toEqual({
      to: ['channel:slack:#refunds'],
      timeout: 90_000,
      contextTemplate: 'pay {args}',
      approvers: ['ann@example.com'],
      quorum: 2,
      fourEyes: true,
      bindApprover: true,
      distinctCallers: false,
      onReject: 'tool_result',
      requireReason: 'both',
      display: ['args.amount', 'args.order.id'],
      remind: true,
      escalateTo: 'channel:console:managers',
    });
  });

  it('holds and steps up a tool under either spelling of its name', () => {
    const spelt = toolCalled('pay_x');
    const security = securitySchema.parse({
      defer: { enabled: true, tools: { 'pay-x': hold } },
      step_up: { enabled: true, tools: { 'pay-x': 'gold' } },
    });
    const policy = createPolicy({ security, tools: new Map([['pay_x', spelt]]), ...off });
    const rules = policy.rulesFor(aCall({ tool: 'pay_x', args: {} }));
    expect(rules.defer?.to).toEqual(['channel:console:*']);
    expect(rules.requiredAcr).toBe('gold');
  });

  it('requires no step-up while the layer is off', () => {
    const acr_hierarchy = ['silver', 'gold'];
    const step_up = { enabled: false, tools: { pay: 'gold' }, acr_hierarchy };
    const policy = createPolicy({ security: securitySchema.parse({ step_up }), tools, ...off });
    const { requiredAcr, acrHierarchy } = policy.rulesFor(aCall({ tool: 'pay' }));
    expect({ requiredAcr, acrHierarchy }).toEqual({
      requiredAcr: null,
      acrHierarchy: ['silver', 'gold'],
    });
  });

  it.each<[string, object, object]>([
    ['is off', { enabled: false, drift: {} }, { judgesIntent: false, drift: null }],
    ['has no drift check', { enabled: true }, { judgesIntent: true, drift: null }],
    [
      'has a drift check',
      { enabled: true, drift: { window: 7, drift_threshold: 0.2, monotone_n: 4 } },
      { judgesIntent: true, drift: { window: 7, driftThreshold: 0.2, monotoneN: 4 } },
    ],
  ])('reports when intent alignment %s', (_, intent_alignment, rules) => {
    const security = securitySchema.parse({ intent_alignment });
    const policy = createPolicy({ security, tools, ...off });
    expect(policy.rulesFor(aCall({ tool: 'pay' }))).toMatchObject(rules);
  });

  it('distinguishes callers where every caller is known', () => {
    const security = securitySchema.parse({ defer: { enabled: true, tools: { pay: hold } } });
    const policy = createPolicy({ security, tools, ...off, isAuthOn: true });
    expect(policy.rulesFor(aCall({ tool: 'pay' })).defer?.distinctCallers).toBe(true);
  });

  it('allows everything unchanged while no layer is on', async () => {
    const policy = createPolicy({ security: securitySchema.parse({}), tools, ...off });
    const { signal } = new AbortController();
    expect(policy.refusalOf(aTaskInput().request)).toBeNull();
    expect(policy.refusalOfSpeaker(null, aCaller({ acr: 'gold' }))).toBeNull();
    expect(policy.modify(aCall({ tool: 'pay' }))).toEqual({ kind: 'unchanged' });
    expect(await policy.checkOutput('pay', 'text', [], signal)).toEqual({
      ...{ kind: 'passed', text: 'text', findings: [], rewrites: [] },
    });
  });

  it('applies its rules to messages, speakers, calls and output', async () => {
    const guardrails = compileGuardrails({
      ...{ deny_commands: [], denied_tools: [], redact: ['email'] },
      ...{ deny_prompts: [{ pattern: 'refund' }], deny_output: [] },
    });
    const note = { path: 'note', replace: { pattern: 'card', with: '****' } };
    const rewriting = { tools: { pay: { arguments: [note], output: [] } } };
    const modify = compileModify(rewriting);
    if (!guardrails.ok || !modify.ok) throw new Error('the rules do not compile');
    const policy = createPolicy({
      ...{ tools, ...off },
      security: securitySchema.parse({
        step_up: { enabled: true },
        modify: { enabled: true, ...rewriting },
      }),
      ...{ guardrails: guardrails.guardrails, modify: modify.modify },
    });
    const { signal } = new AbortController();
    expect(policy.refusalOf(aTaskInput().request)?.text).toBe('denied by guardrail: refund');
    expect(policy.refusalOfSpeaker(null, aCaller({ acr: 'gold' }))?.findings).toEqual([
      { gate: 'governance', decision: 'deny', rule: 'step_up' },
    ]);
    expect(policy.modify(aCall({ tool: 'pay', args: { note: 'card' } }))).toMatchObject({
      kind: 'modified',
      call: { args: { note: '****' } },
    });
    expect(await policy.checkOutput('pay', 'ann@example.com', [], signal)).toMatchObject({
      text: '[redacted:email]',
    });
  });

  it('uses the default timeout', () => {
    expect(rulesOf({ default_timeout: '5m', tools: { pay: hold } }).defer?.timeout).toBe(300_000);
  });

  it.each<[string, string[], string[], string[] | null]>([
    ['its own list', ['ann@a.io'], ['bob@b.io'], ['ann@a.io']],
    ['the default list when it has none', [], [' BOB@b.io', ' '], ['bob@b.io']],
    ['the default list when its own has only blanks', ['', '  '], ['bob@b.io'], ['bob@b.io']],
    ['no list when both are empty', [], [], null],
    ['no list when both have only blanks', [' '], [''], null],
    ['its own list even when every entry is malformed', ['ann'], ['bob@b.io'], ['ann']],
  ])('gives a tool %s', (_name, approvers, fallback, effective) => {
    const defer = { default_approvers: fallback, tools: { pay: { ...hold, approvers } } };
    expect(rulesOf(defer).defer?.approvers).toEqual(effective);
  });

  it('holds nothing while deferring is off', () => {
    expect(rulesOf({ enabled: false, tools: { pay: hold } }).defer).toBeNull();
  });

  it('refuses an unknown tool, also one named like a property of every object', () => {
    const policy = createPolicy({ security: securitySchema.parse({}), tools, ...off });
    for (const tool of ['ghost', 'constructor', '__proto__', 'toString']) {
      expect(policy.rulesFor(aCall({ tool }))).toEqual({
        ...plain,
        refusal: {
          text: `unknown tool: ${tool}`,
          findings: [{ gate: 'tool', decision: 'deny', rule: 'unknown tool' }],
          isMisfit: true,
        },
        defer: null,
      });
    }
  });

  it('refuses arguments that the tool would refuse, before an approver is asked', () => {
    const strict = toolCalled('pay', undefined, {
      check: ({ amount }) => (typeof amount === 'number' ? null : 'pay: amount must be a number'),
    });
    const security = securitySchema.parse({ defer: { enabled: true, tools: { pay: hold } } });
    const policy = createPolicy({ security, tools: new Map([['pay', strict]]), ...off });
    expect(policy.rulesFor(aCall({ tool: 'pay', args: {} })).refusal).toEqual({
      text: 'pay: amount must be a number',
      findings: [{ gate: 'arguments', decision: 'deny', rule: 'schema' }],
      isMisfit: true,
    });
    expect(policy.rulesFor(aCall({ tool: 'pay', args: { amount: 1 } })).refusal).toBeNull();
  });
});

describe('the message for the approver', () => {
  const contextOf = (template: object, args: object): string => {
    const rule = rulesOf({ tools: { pay: { ...hold, ...template } } }).defer;
    return renderContext(rule?.contextTemplate ?? 'no rule', 'pay', args as never);
  };

  it.each([
    [{}, { amount: 5 }, 'tool=pay args={"amount":5}'],
    [{ context_template: '' }, {}, 'tool=pay args={}'],
    [{ context_template: '  ' }, {}, 'tool=pay args={}'],
    [{ context_template: '{tool}/{tool}: {args} {else}' }, { a: 1 }, 'pay/pay: {"a":1} {else}'],
    [{ context_template: '{args}' }, { note: '{tool} $& {args}' }, '{"note":"{tool} $& {args}"}'],
  ])('is the template %j with its placeholders filled once', (template, args, context) => {
    expect(contextOf(template, args)).toBe(context);
  });

  it('is always well-formed', () => {
    expect(contextOf({}, { note: '\ud800' }).isWellFormed()).toBe(true);
  });
});
