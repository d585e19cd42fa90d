import { expect, it } from 'vitest';
import type { ConfigProblem, ServiceConfig } from '../../../src/actors/config/config.ts';
import { securitySchema } from '../../../src/actors/governance/settings/schema-security.ts';
import { boundProblems, historyBounds } from '../../../src/agent/policy/bound-problems.ts';
import { rulesWithoutTool } from '../../../src/agent/policy/ruled-tools.ts';
import { toolCalled } from '../../helpers/system-story.ts';

const parameters = {
  type: 'object',
  properties: {
    amount: { type: 'number' },
    currency: { type: 'string' },
    lines: { type: 'array', items: { $ref: '#/$defs/line' } },
    note: { type: 'object' },
  },
  $defs: { line: { type: 'object', properties: { price: { type: 'number' } } } },
};
const tools = new Map([
  ['pay_out', { ...toolCalled('pay_out'), parameters }],
  ['pay_any', { ...toolCalled('pay_any'), parameters: {} }],
]);

const problemAt = (path: readonly (string | number)[], message: string): ConfigProblem => ({
  ...{ message, file: 'service.yaml', line: 1, column: 1 },
  path: path.join('.').replace('security.', ''),
});
const asLine = ({ path, message }: ConfigProblem) => `${path}: ${message}`;

function configOf(security: object): ServiceConfig {
  const config = {
    security: securitySchema.parse(security),
    credentials: [],
    mcp: { servers: [] },
  };
  return config as unknown as ServiceConfig;
}

function problemsOf(limit: object, effect: object = {}): string[] {
  const limits = { a_day: { tools: ['pay_out'], per: '24h', max: 5, over: 'deny', ...limit } };
  const config = configOf({ limits, effects: { pay_out: { key: 'k', ...effect } } });
  return boundProblems({ config, problemAt }, tools).map(asLine);
}

it.each([
  ['amount: args.amount', { amount: 'args.amount' }],
  ['a member of the elements of a list', { amount: 'args.lines.0.price' }],
  ['a member of an object without named members', { amount: 'args.note.total' }],
  ['any argument of a tool without a schema', { tools: ['pay_any'], amount: 'args.total' }],
  ['expressions of type string', { by: ['caller', 'org', 'args.currency', 'caller.user_id'] }],
  ['a condition', { when: 'args.currency == "EUR"' }],
])('%s fits the tool', (_, limit) => {
  expect(problemsOf(limit)).toEqual([]);
});

it.each<[object, string]>([
  [
    { amount: 'args.amuont' },
    'limits.a_day.amount: pay_out has no argument amuont; correct the name',
  ],
  [
    { tools: ['pay_*'], amount: 'args.lines.0.prize' },
    'limits.a_day.amount: pay_out has no argument lines.0.prize; correct the name',
  ],
  [
    { when: 'args.curency == "EUR"' },
    'limits.a_day.when: No such key: curency (column 6 of the expression)',
  ],
  [
    { tools: ['other'], when: 'args.x ==' },
    'limits.a_day.when: Unexpected token: EOF (column 10 of the expression)',
  ],
  [
    { by: ['caller', 'args.amount'] },
    'limits.a_day.by.1: the expression must be a string, and it is of type double (column 1 of the expression)',
  ],
  [{ by: ['user'] }, 'limits.a_day.by.0: Unknown variable: user (column 1 of the expression)'],
  [
    { when: 'limits.a_day.left > 5.0' },
    'limits.a_day.when: Unknown variable: limits (column 1 of the expression)',
  ],
])('%j does not fit the tool', (limit, line) => {
  expect(problemsOf(limit)).toEqual([line]);
});

it('an argument in the key of an effect is one of the tool', () => {
  expect(problemsOf({}, { key: '{args.amount}:{args.id}:{tool}' })).toEqual([
    'effects.pay_out.key: pay_out has no argument id; correct the name',
  ]);
});

it('limits and effects name tools of the agent', () => {
  const limit = { per: '24h', max: 5, over: 'deny' };
  const config = configOf({
    limits: {
      a_day: { ...limit, tools: ['pay-out', 'pay_*', 'payout', 'refund_*'] },
      later: { ...limit, tools: ['soon'], optional: true },
    },
    effects: {
      'pay_*': { key: 'k' },
      pay_uot: { key: 'k' },
      pay_out: { key: 'k', reconcile: 'find' },
    },
  });
  const { problems, warnings } = rulesWithoutTool({ config, problemAt }, [...tools.keys()]);
  const later = 'write optional: true for a tool that comes later';
  expect(warnings).toEqual([]);
  expect(problems.map(asLine)).toEqual([
    `limits.a_day.tools.2: the agent has no tool payout, so this limit counts none of its calls; the nearest is pay_out; ${later}`,
    `limits.a_day.tools.3: the agent has no tool refund_*, so this limit counts none of its calls; the nearest is pay_out; ${later}`,
    `effects.pay_uot: the agent has no tool pay_uot, so this rule has no effect; the nearest is pay_out; ${later}`,
    `effects.pay_out.reconcile: the agent has no tool find, so nobody learns whether a call ran; the nearest is pay_any; ${later}`,
  ]);
});

it('history in a rule that allows calls causes a warning that names limits', () => {
  const to = 'channel:console:*';
  const rule = (when: string) => ({ when, allow: true });
  const pay = [rule('history.count("pay") == 0'), rule('history.labels == []'), { to }];
  const config = configOf({
    defer: {
      enabled: true,
      tools: {
        pay,
        refund: rule('history.sum("pay", "amount") < 5.0'),
        ask: { when: 'history.count("a") > 1', to },
      },
    },
  });
  const message =
    'history does not count calls that run at the same moment, so several of them can pass together; bound them by security.limits, and read limits.NAME.left here';
  expect(historyBounds({ config, problemAt }).map(asLine)).toEqual([
    `defer.tools.pay.0.when: ${message}`,
    `defer.tools.refund.when: ${message}`,
  ]);
});
