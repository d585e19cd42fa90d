import { describe, expect, it } from 'vitest';
import type { CallFacts } from '../../../../src/actors/governance/conditions/condition-input.ts';
import { PolicyRules } from '../../../../src/actors/governance/policy/policy-rules.ts';
import { securitySchema } from '../../../../src/actors/governance/settings/schema-security.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { toolCalled } from '../../../helpers/system-story.ts';

const parameters = {
  type: 'object',
  properties: { amount: { type: 'number' }, note: { type: 'string' } },
};
const tools = new Map([['pay', { ...toolCalled('pay'), parameters }]]);
const facts: CallFacts = {
  requester: { provider: 'p', userId: 'u', email: 'ann@example.com' },
  task: { id: 't', surface: 'legacy', session: 's', tags: {} },
  ran: [],
  now: 0,
};

const ann = { to: 'channel:console:*' };
const finance = { to: 'channel:slack:#finance', quorum: 2, approvers: ['a@x.org', 'b@x.org'] };

function rulesOf(security: object, environment: Record<string, string> = {}) {
  return new PolicyRules({
    ...{ security: securitySchema.parse(security), isAuthOn: true, tools, environment },
  });
}

function of(security: object, args: JsonObject, given: Partial<CallFacts> = {}) {
  const { defer, ...rules } = rulesOf(security).of({ tool: 'pay', args }, { ...facts, ...given });
  return { ...rules, defer: defer && [defer.to, defer.quorum] };
}

const nothing = { refusal: null, requiredAcr: null, defer: null, names: {}, shadows: [] };

const listed = (...rules: object[]) => ({ defer: { enabled: true, tools: { pay: rules } } });

const refunds = listed(
  { when: 'args.amount <= 50.0 && history.count("pay") == 0', allow: true },
  { when: 'args.amount > 1000.0', ...finance },
  ann,
);

describe('a rule with allow: true', () => {
  const allowing = listed({ allow: true }, ann);
  const waits = {
    ...nothing,
    names: { defer: 'defer.tools.pay[1]' },
    defer: [ann.to].map((to) => [[to], 1])[0],
  };

  it.each<[string, JsonObject, object]>([
    [
      'named arguments',
      { amount: 5, note: 'x' },
      { ...nothing, names: { defer: 'defer.tools.pay[0]' } },
    ],
    ['an argument outside the schema', { amount: 5, to: 'x' }, waits],
  ])('applies to %s only if the schema names them all', (_, args, expected) => {
    expect(of(allowing, args)).toEqual(expected);
  });

  it('does not change restricting rules', () => {
    const denied = {
      guardrails: { enabled: true, denied_tools: [{ tool: 'pay', when: 'args.amount > 1.0' }] },
    };
    expect(of(denied, { amount: 5, to: 'x' }).refusal).not.toBeNull();
  });
});

describe('a list of rules', () => {
  const ran = {
    tool: 'pay',
    callId: 'c',
    argsSha256: '',
    args: '{}',
    outcome: 'failed',
    at: 0,
  } as const;

  it.each<[string, JsonObject, Partial<CallFacts>, object]>([
    ['a small amount', { amount: 50 }, {}, { names: { defer: 'defer.tools.pay[0]' } }],
    [
      'a second small amount',
      { amount: 50 },
      { ran: [ran] },
      { names: { defer: 'defer.tools.pay[2]' }, defer: [['channel:console:*'], 1] },
    ],
    [
      'a large amount',
      { amount: 1_001 },
      {},
      { names: { defer: 'defer.tools.pay[1]' }, defer: [['channel:slack:#finance'], 2] },
    ],
    [
      'an amount of another type, which no condition accepts',
      { amount: '1' },
      {},
      { names: { defer: 'defer.tools.pay[1]' }, defer: [['channel:slack:#finance'], 2] },
    ],
    [
      'no amount',
      {},
      {},
      { names: { defer: 'defer.tools.pay[1]' }, defer: [['channel:slack:#finance'], 2] },
    ],
    [
      'unknown history',
      { amount: 1 },
      { ran: null },
      { names: { defer: 'defer.tools.pay[2]' }, defer: [['channel:console:*'], 1] },
    ],
  ])('applies the first one that matches: %s', (_, args, given, expected) => {
    expect(of(refunds, args, given)).toEqual({ ...nothing, ...expected });
  });

  it('adds the requirements of the later rule where a condition cannot be evaluated', () => {
    const weak = { when: 'args.amount <= 100.0', to: 'channel:console:*', timeout: '9m' };
    const strict = {
      ...finance,
      approvers: ['a@x.org', 'b@x.org'],
      four_eyes: true,
      timeout: '5m',
    };
    const rules = rulesOf(listed(weak, strict));
    const found = (args: JsonObject) => rules.of({ tool: 'pay', args }, facts).defer;
    expect(found({ amount: 1 })).toMatchObject({ quorum: 1, approvers: null });
    expect(found({})).toMatchObject({
      ...{ to: ['channel:console:*'], quorum: 2, fourEyes: true, timeout: 300_000 },
      approvers: ['a@x.org', 'b@x.org'],
    });
  });

  it('keeps the first list of approvers where two lists have no common person', () => {
    const one = { when: 'args.amount <= 100.0', ...ann, approvers: ['c@x.org'] };
    const { defer } = rulesOf(listed(one, finance)).of({ tool: 'pay', args: {} }, facts);
    expect(defer).toMatchObject({ approvers: ['c@x.org'], quorum: 2 });
  });

  it('holds no call without a matching rule', () => {
    expect(of(listed({ when: 'args.amount > 5.0', ...ann }), { amount: 5 })).toEqual(nothing);
  });

  it('applies to both spellings of a tool, and to no other tool', () => {
    const rules = rulesOf({ defer: { enabled: true, tools: { 'pay-out': [ann, ann] } } });
    const named = (tool: string) => rules.of({ tool, args: {} }, facts).names;
    expect([named('pay_out'), named('pay')]).toEqual([{ defer: 'defer.tools.pay-out[0]' }, {}]);
  });
});

describe('rules of a tool and of patterns', () => {
  const named = (defer: object, args: JsonObject, tool = 'gh_create') => {
    const rules = rulesOf({ defer: { enabled: true, tools: defer } });
    const { rule, name } = rules.deferOf({ tool, args }, facts);
    return [name, rule && [rule.to, rule.quorum]];
  };
  const holding = { to: 'channel:console:*' };
  const security = { to: 'channel:console:security', quorum: 2, approvers: ['a@x.org', 'b@x.org'] };
  const open = { when: 'args.private == false', ...security };

  it.each<[string, object, JsonObject, unknown[]]>([
    [
      'the pattern holds a call to which no named rule applies',
      { 'gh_*': holding, gh_create: [open] },
      { private: true },
      [null, [['channel:console:*'], 1]],
    ],
    [
      'both apply: the strictest counts, at the targets of the named rule',
      { 'gh_*': holding, gh_create: [open] },
      { private: false },
      ['defer.tools.gh_create', [['channel:console:security'], 2]],
    ],
    [
      'allow: true of a named rule ends the search',
      { 'gh_*': holding, gh_create: [{ when: 'args.private == true', allow: true }, security] },
      { private: true },
      ['defer.tools.gh_create[0]', null],
    ],
    [
      'allow: true of a named rule that does not apply keeps the pattern in force',
      { 'gh_*': holding, gh_create: [{ when: 'args.private == true', allow: true }] },
      { private: false },
      [null, [['channel:console:*'], 1]],
    ],
    [
      'allow: true of a pattern does not override another pattern',
      { 'gh_*': [{ allow: true }], '*': holding },
      {},
      [null, [['channel:console:*'], 1]],
    ],
    [
      'allow: true of a pattern does not override a named rule',
      { '*_create': [{ allow: true }], gh_create: holding },
      {},
      [null, [['channel:console:*'], 1]],
    ],
    [
      'allow: true of the only pattern allows a call',
      { 'gh_*': [{ when: 'args.private == true', allow: true }, holding] },
      { private: true },
      ['defer.tools.gh_*[0]', null],
    ],
    [
      'of two patterns the strictest counts',
      { 'gh-*': { ...holding, timeout: '1m' }, '*create': security },
      {},
      [null, [['channel:console:*'], 2]],
    ],
  ])('%s', (_, defer, args, expected) => {
    expect(named(defer, args)).toEqual(expected);
  });

  it('the highest step-up level counts', () => {
    const steps = { '*': 'gold', pay: [{ when: 'args.amount > 100.0', acr: 'silver' }] };
    const ranked = { step_up: { enabled: true, tools: steps, acr_hierarchy: ['silver', 'gold'] } };
    expect([of(ranked, { amount: 101 }), of(ranked, { amount: 1 })]).toEqual([
      { ...nothing, requiredAcr: 'gold' },
      { ...nothing, requiredAcr: 'gold' },
    ]);
  });

  it('every denial counts', () => {
    const denied = [
      { tool: 'pay', when: 'args.amount > 5000.0', message: 'too much' },
      { tool: 'p*', when: 'args.amount > 100.0', message: 'over the limit' },
    ];
    const security = { guardrails: { enabled: true, denied_tools: denied } };
    const texts = [6_000, 200, 1].map((amount) => of(security, { amount }).refusal?.text);
    expect(texts).toEqual([
      'denied by guardrail: too much',
      'denied by guardrail: over the limit',
      undefined,
    ]);
  });

  it('every matching entry of MODIFY changes the call, the named rule first', () => {
    const rules = rulesOf({
      modify: { enabled: true, tools: { '*': { arguments: [] }, pay: { arguments: [] } } },
    });
    expect(rules.modifyEntriesOf({ tool: 'pay', args: {} }, facts)).toEqual([
      { tool: 'pay', index: 0 },
      { tool: '*', index: 0 },
    ]);
  });
});

describe('a condition of another layer', () => {
  it('denies', () => {
    const denied = { tool: 'pay', when: 'args.amount > 5000.0', message: 'too much' };
    const security = { guardrails: { enabled: true, denied_tools: ['other', denied] } };
    expect(of(security, { amount: 1 })).toEqual(nothing);
    expect(of(security, { amount: 5_001 }).refusal).toEqual({
      text: 'denied by guardrail: too much',
      findings: [{ gate: 'denied_tools', decision: 'deny', rule: 'denied_tools[1]' }],
      rule: 'guardrails.denied_tools[1]',
    });
    expect(of(security, {}).refusal).not.toBeNull();
  });

  it('requires a level', () => {
    const steps = [{ when: 'args.amount > 100.0', acr: 'gold' }, 'silver'];
    const security = { step_up: { enabled: true, tools: { pay: steps } } };
    const ranked = {
      step_up: { ...security.step_up, acr_hierarchy: ['silver', 'gold'] },
    };
    const bronze = { when: 'args.amount <= 100.0', acr: 'silver' };
    const turned = { step_up: { ...ranked.step_up, tools: { pay: [bronze, 'gold'] } } };
    expect([of(ranked, {}).requiredAcr, of(turned, {}).requiredAcr]).toEqual(['gold', 'gold']);
    expect([of(security, { amount: 101 }), of(security, { amount: 1 })]).toEqual([
      { ...nothing, requiredAcr: 'gold', names: { assurance: 'step_up.tools.pay[0]' } },
      { ...nothing, requiredAcr: 'silver', names: { assurance: 'step_up.tools.pay[1]' } },
    ]);
  });

  it('chooses an entry of MODIFY', () => {
    const entries = [{ when: 'has(args.note)', arguments: [] }, { arguments: [] }];
    const rules = rulesOf({ modify: { enabled: true, tools: { pay: entries } } });
    const entry = (args: JsonObject) => rules.modifyEntriesOf({ tool: 'pay', args }, facts);
    expect([entry({ note: 'x' }), entry({})]).toEqual([
      [{ tool: 'pay', index: 0 }],
      [{ tool: 'pay', index: 1 }],
    ]);
  });
});

it('an entry of MODIFY with a failing condition does not hide later ones', () => {
  const entries = [{ when: 'args.note == "x"', arguments: [] }, { arguments: [] }];
  const rules = rulesOf({ modify: { enabled: true, tools: { pay: entries } } });
  expect(rules.modifyEntriesOf({ tool: 'pay', args: { note: 5 } }, facts)).toEqual([
    { tool: 'pay', index: 0 },
    { tool: 'pay', index: 1 },
  ]);
});

describe('a rule in shadow', () => {
  it('decides nothing and is reported', () => {
    const rules = listed({ ...finance, shadow: true }, ann);
    expect(of(rules, {})).toEqual({
      ...nothing,
      names: { defer: 'defer.tools.pay[1]' },
      defer: [['channel:console:*'], 1],
      shadows: [{ rule: 'defer.tools.pay[0]', would: 'defer' }],
    });
  });

  it('is every rule where the mode is shadow', () => {
    const security = {
      policy: { mode: 'shadow' },
      guardrails: { enabled: true, denied_tools: [{ tool: 'pay', when: 'true' }] },
      step_up: { enabled: true, tools: { pay: 'gold' } },
      defer: { enabled: true, tools: { pay: [{ when: 'false', ...ann }, ann] } },
    };
    expect(of(security, {})).toEqual({
      ...nothing,
      shadows: [
        { rule: 'step_up.tools.pay', would: 'step_up' },
        { rule: 'defer.tools.pay[1]', would: 'defer' },
        { rule: 'guardrails.denied_tools[0]', would: 'deny' },
      ],
    });
  });
});

it('the tools with a rule on the history are known', () => {
  const rules = rulesOf(refunds);
  expect([rules.readsHistory('pay'), rules.readsHistory('other')]).toEqual([true, false]);
});

it('the variables in conditions are read', () => {
  const security = listed({ when: 'environment.STAGE == "test"', allow: true }, ann);
  const held = (environment: Record<string, string>) =>
    rulesOf(security, environment).of({ tool: 'pay', args: {} }, facts).defer !== null;
  expect([held({ STAGE: 'test' }), held({ STAGE: 'live' }), held({})]).toEqual([false, true, true]);
});
