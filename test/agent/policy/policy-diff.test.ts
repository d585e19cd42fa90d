import { describe, expect, it } from 'vitest';
import { gateSchema } from '../../../src/actors/config/schema-gate.ts';
import { securitySchema } from '../../../src/actors/governance/settings/schema-security.ts';
import { type ComparedPolicy, diffPolicies } from '../../../src/agent/policy/policy-diff.ts';

type Gate = NonNullable<ComparedPolicy['gate']>;

const hold = { to: 'channel:console:*', approvers: ['ann@example.com', 'bob@example.com'] };
const holding = (rule: object) => ({ defer: { enabled: true, tools: { pay: rule } } });
const levels = { enabled: true, acr_hierarchy: ['silver', 'gold'] };
const step = (acr: string) => ({ step_up: { ...levels, tools: { pay: acr } } });
const denied = (...tools: unknown[]) => ({ guardrails: { enabled: true, denied_tools: tools } });

const rules = (tools: Record<string, object>, more: object = {}) => ({
  defer: { enabled: true, ...more, tools },
});
const eve = { to: 'channel:console:*', approvers: ['eve@example.com'] };
const gate = (value: object) => ({ gate: gateSchema.parse(value) });

function changes(before: object, after: object) {
  const [one, other] = [before, after].map(({ gate: listed, ...security }: { gate?: Gate }) => ({
    security: securitySchema.parse(security),
    ...(listed === undefined ? {} : { gate: listed }),
  }));
  if (one === undefined || other === undefined) throw new Error('two policies are compared');
  return diffPolicies(one, other).map(({ name, change, effect }) => [name, change, effect]);
}

const limit = { tools: ['pay'], per: '24h', max: 5000, to: 'channel:console:*' };
const limits = (one: object) => ({
  defer: { enabled: true },
  limits: { a_day: { ...limit, ...one } },
});
const effects = (one: object) => ({
  defer: { enabled: true },
  effects: { pay: { key: 'k', ...one } },
});

describe('the difference between the limits of two policies', () => {
  it.each<[string, object, object, string]>([
    ['a lower maximum', {}, { max: 4999 }, 'tighter'],
    ['a higher maximum', {}, { max: '5000.01' }, 'looser'],
    ['a longer period', {}, { per: '25h' }, 'tighter'],
    ['a period of the calendar', {}, { per: { calendar: 'day', zone: 'UTC' } }, 'may be looser'],
    ['one tool more', {}, { tools: ['pay', 'refund'] }, 'tighter'],
    ['another tool', {}, { tools: ['refund'] }, 'may be looser'],
    ['a condition', {}, { when: 'true' }, 'looser'],
    ['other values apart', {}, { by: ['caller'] }, 'may be looser'],
    ['values in another order', { by: ['tool', 'org'] }, { by: ['org', 'tool'] }, 'may be looser'],
    ['another amount', {}, { amount: 'args.amount' }, 'may be looser'],
    ['a denial', {}, { over: 'deny' }, 'may be looser'],
    ['an approval in place of a denial', { over: 'deny' }, {}, 'may be looser'],
    ['approvers', {}, { approvers: ['ann@example.com'] }, 'may be looser'],
    ['a larger quorum', hold, { ...hold, quorum: 2 }, 'tighter'],
  ])('%s', (_, before, after, effect) => {
    expect(changes(limits(before), limits(after))).toEqual([['limits.a_day', 'changed', effect]]);
  });

  it.each<[string, object, object, string]>([
    ['a denial', {}, { repeat: 'deny' }, 'tighter'],
    ['the first result', {}, { repeat: 'join' }, 'may be looser'],
    ['another key', {}, { key: '{args.id}' }, 'may be looser'],
    ['a time', {}, { within: '30d' }, 'looser'],
    ['a longer time', { within: '30d' }, { within: '31d' }, 'tighter'],
  ])('an effect with %s', (_, before, after, effect) => {
    expect(changes(effects(before), effects(after))).toEqual([['effects.pay', 'changed', effect]]);
  });

  it('a limit or an effect that is new, gone, or in shadow', () => {
    const defer = { defer: { enabled: true } };
    expect(changes(defer, limits({}))).toEqual([['limits.a_day', 'added', 'tighter']]);
    expect(changes(limits({}), limits({ shadow: true }))).toEqual([
      ['limits.a_day', 'removed', 'looser'],
    ]);
    expect(changes(effects({}), defer)).toEqual([['effects.pay', 'removed', 'looser']]);
  });

  it('the order of the patterns of effects', () => {
    const [one, other] = [{ 'pay_*': { key: '1' } }, { '*': { key: '2' } }];
    const inOrder = (...all: object[]) => ({ effects: Object.assign({}, ...all) });
    expect(changes(inOrder(one, other), inOrder(other, one))).toEqual([
      ['effects', 'changed', 'may be looser'],
    ]);
  });
});

describe('the difference between two policies', () => {
  it.each<[string, object, object, [string, string, string][]]>([
    ['no change', holding(hold), holding(hold), []],
    ['a new hold', {}, holding(hold), [['defer.tools.pay', 'added', 'tighter']]],
    ['a removed hold', holding(hold), {}, [['defer.tools.pay', 'removed', 'looser']]],
    [
      'a hold in a layer that is off',
      holding(hold),
      { defer: { ...holding(hold).defer, enabled: false } },
      [['defer.tools.pay', 'removed', 'looser']],
    ],
    [
      'a hold in shadow',
      holding(hold),
      holding({ ...hold, shadow: true }),
      [['defer.tools.pay', 'removed', 'looser']],
    ],
    [
      'a release',
      holding(hold),
      holding({ allow: true }),
      [['defer.tools.pay', 'changed', 'looser']],
    ],
    [
      'a larger quorum',
      holding(hold),
      holding({ ...hold, quorum: 2 }),
      [['defer.tools.pay', 'changed', 'tighter']],
    ],
    [
      'a longer timeout',
      holding({ ...hold, timeout: '1m' }),
      holding(hold),
      [['defer.tools.pay', 'changed', 'looser']],
    ],
    [
      'fewer approvers',
      holding(hold),
      holding({ ...hold, approvers: ['ann@example.com'] }),
      [['defer.tools.pay', 'changed', 'tighter']],
    ],
    [
      'no list of approvers',
      holding(hold),
      holding({ to: hold.to }),
      [['defer.tools.pay', 'changed', 'looser']],
    ],
    [
      'another condition',
      holding(hold),
      holding({ ...hold, when: 'args.amount > 5' }),
      [['defer.tools.pay', 'changed', 'looser']],
    ],
    [
      'a removed condition of a hold',
      holding({ ...hold, when: 'args.amount > 5' }),
      holding(hold),
      [['defer.tools.pay', 'changed', 'tighter']],
    ],
    [
      'a removed condition of a hold that hides a later one',
      holding([
        { ...hold, when: 'args.amount > 5' },
        { ...hold, quorum: 2 },
      ]),
      holding([hold, { ...hold, quorum: 2 }]),
      [['defer.tools.pay[0]', 'changed', 'may be looser']],
    ],
    [
      'a changed condition of a hold',
      holding({ ...hold, when: 'args.amount > 5' }),
      holding({ ...hold, when: 'args.amount > 500' }),
      [['defer.tools.pay', 'changed', 'may be looser']],
    ],
    [
      'a removed condition of a rule that allows calls',
      holding([{ when: 'args.percent <= 10', allow: true }, hold]),
      holding([{ allow: true }, hold]),
      [['defer.tools.pay[0]', 'changed', 'looser']],
    ],
    [
      'a condition of a rule that allows calls',
      holding([{ allow: true }, hold]),
      holding([{ when: 'args.percent <= 10', allow: true }, hold]),
      [['defer.tools.pay[0]', 'changed', 'tighter']],
    ],
    [
      'a changed condition of a rule that allows calls',
      holding([{ when: 'args.amount <= 50.0', allow: true }, hold]),
      holding([{ when: 'args.amount <= 500.0', allow: true }, hold]),
      [['defer.tools.pay[0]', 'changed', 'may be looser']],
    ],
    [
      'other targets',
      holding(hold),
      holding({ ...hold, to: 'channel:console:ops' }),
      [['defer.tools.pay', 'changed', 'may be looser']],
    ],
    [
      'a changed condition of a level',
      { step_up: { ...levels, tools: { pay: { acr: 'gold', when: 'args.amount > 5' } } } },
      { step_up: { ...levels, tools: { pay: { acr: 'gold', when: 'args.amount > 50' } } } },
      [['step_up.tools.pay', 'changed', 'may be looser']],
    ],
    [
      'a removed MODIFY rule',
      { modify: { enabled: true, tools: { pay: { arguments: [{ path: 'a', set: 1 }] } } } },
      {},
      [['modify.tools.pay', 'removed', 'may be looser']],
    ],
    [
      'both directions',
      holding(hold),
      holding({ ...hold, quorum: 2, timeout: '20m' }),
      [['defer.tools.pay', 'changed', 'may be looser']],
    ],
    ['a higher level', step('silver'), step('gold'), [['step_up.tools.pay', 'changed', 'tighter']]],
    [
      'denials in another order',
      denied('pay', 'grant'),
      denied('grant', 'pay', 'echo'),
      [['guardrails.denied_tools echo', 'added', 'tighter']],
    ],
    [
      'a removed pattern',
      { guardrails: { enabled: true, deny_commands: [{ pattern: 'rm' }] } },
      { guardrails: { enabled: true } },
      [['guardrails.deny_commands rm', 'removed', 'looser']],
    ],
    [
      'the mode shadow',
      holding(hold),
      { ...holding(hold), policy: { mode: 'shadow' } },
      [
        ['defer.tools.pay', 'removed', 'looser'],
        ['policy.mode', 'changed', 'looser'],
      ],
    ],
    [
      'one more default approver',
      rules({ pay: { to: hold.to } }, { default_approvers: ['ann@example.com'] }),
      rules({ pay: { to: hold.to } }, { default_approvers: hold.approvers }),
      [['defer.tools.pay', 'changed', 'looser']],
    ],
    [
      'approvals that count for later calls',
      holding(hold),
      rules({ pay: hold }, { remember: {} }),
      [['defer.tools.pay', 'changed', 'looser']],
    ],
    [
      'approvals that count for later calls, and a shorter timeout',
      rules({ pay: { ...hold, never_remember: true } }, { remember: {} }),
      rules({ pay: { ...hold, timeout: '1m' } }, { remember: {} }),
      [['defer.tools.pay', 'changed', 'may be looser']],
    ],
    [
      'a reason for other decisions, and a shorter timeout',
      holding({ ...hold, require_reason: 'approve' }),
      holding({ ...hold, require_reason: 'reject', timeout: '1m' }),
      [['defer.tools.pay', 'changed', 'may be looser']],
    ],
    [
      'another text for approvers, and a shorter timeout',
      holding(hold),
      holding({ ...hold, context_template: 'harmless', timeout: '1m' }),
      [['defer.tools.pay', 'changed', 'may be looser']],
    ],
    [
      'a hold of a name next to a pattern, whose approvers count first',
      rules({ 'p*': hold }),
      rules({ 'p*': hold, pay: eve }),
      [['defer.tools.pay', 'added', 'may be looser']],
    ],
    [
      'a hold of another name next to a pattern',
      rules({ 'p*': hold }),
      rules({ 'p*': hold, grant: eve }),
      [['defer.tools.grant', 'added', 'tighter']],
    ],
    [
      'a hold of another spelling of a name',
      rules({ 'pay-out': hold }),
      rules({ pay_out: eve, 'pay-out': hold }),
      [['defer.tools.pay_out', 'added', 'may be looser']],
    ],
    [
      'fewer approvers next to a pattern with others',
      rules({ pay: hold, 'p*': { ...eve, approvers: ['ann@example.com'] } }),
      rules({
        pay: { ...hold, approvers: ['bob@example.com'] },
        'p*': { ...eve, approvers: ['ann@example.com'] },
      }),
      [['defer.tools.pay', 'changed', 'may be looser']],
    ],
    [
      'patterns in another order',
      rules({ 'p*': hold, '*y': eve, 'g*': eve }),
      rules({ 'g*': eve, '*y': eve, 'p*': hold }),
      [['defer.tools', 'changed', 'may be looser']],
    ],
    [
      'patterns in another order that match no common tool',
      rules({ 'p*': hold, 'g*': eve }),
      rules({ 'g*': eve, 'p*': hold }),
      [],
    ],
    [
      'a level of a name next to a pattern with another one',
      { step_up: { enabled: true, tools: { 'p*': 'gold' } } },
      { step_up: { enabled: true, tools: { 'p*': 'gold', pay: 'bronze' } } },
      [['step_up.tools.pay', 'added', 'may be looser']],
    ],
    [
      'one of two actions of a pattern removed',
      {
        guardrails: {
          enabled: true,
          deny_output: ['block', 'redact'].map((action) => ({ pattern: 'x', action })),
        },
      },
      { guardrails: { enabled: true, deny_output: [{ pattern: 'x', action: 'redact' }] } },
      [['guardrails.deny_output block x', 'removed', 'looser']],
    ],
    [
      'unlisted tools of a gate allowed',
      gate({ unknown: 'defer' }),
      gate({ unknown: 'allow' }),
      [['gate.unknown', 'changed', 'looser']],
    ],
    [
      'unlisted tools of a gate denied',
      gate({ unknown: 'defer' }),
      gate({}),
      [['gate.unknown', 'changed', 'tighter']],
    ],
    [
      'one more tool of a gate, and another schema',
      gate({ tools: { Bash: { schema: { type: 'object', properties: { a: {} } } } } }),
      gate({ tools: { Bash: {}, Write: {} } }),
      [
        ['gate.tools.Bash', 'changed', 'may be looser'],
        ['gate.tools.Write', 'added', 'may be looser'],
      ],
    ],
  ])('has %s', (_, before, after, expected) => {
    expect(changes(before, after)).toEqual(expected);
  });
});
