import { describe, expect, it } from 'vitest';
import { ConditionCompiler } from '../../../../src/actors/governance/conditions/condition.ts';
import type { CallFacts } from '../../../../src/actors/governance/conditions/condition-input.ts';
import type { RanCall } from '../../../../src/machines/domain/task.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';

const parameters = {
  type: 'object',
  properties: {
    amount: { type: 'number' },
    count: { type: 'integer' },
    note: { type: 'string' },
    items: { type: 'array', items: { type: 'object' } },
    to: { type: 'object', properties: { account: { type: 'string' } } },
    any: {},
  },
};

const ran = (tool: string, args: JsonObject, more: Partial<RanCall> = {}): RanCall => ({
  tool,
  callId: 'c',
  argsSha256: 'a',
  args: JSON.stringify(args),
  outcome: 'succeeded',
  at: 0,
  ...more,
});

const facts: CallFacts = {
  requester: {
    ...{ provider: 'p', userId: 'u-1', email: 'ann@example.com', acr: 'gold' },
    ...{ groups: ['finance'], claims: { level: 3, roles: ['a'] } },
  },
  task: {
    id: 't-1',
    surface: 'mcp',
    session: 's-1',
    tags: { workflow_id: 'w-1', invocation_depth: '2' },
    call: { cwd: '/app' },
  },
  ran: [ran('pay', { amount: 5 }, { labels: ['pii'] }), ran('pay', { amount: 7.5 })],
  now: Date.parse('2026-03-01T09:00:00Z'),
};

const compiler = new ConditionCompiler({ environment: { STAGE: 'live' } });

function holds(text: string, args: JsonObject, given: CallFacts = facts) {
  const condition = compiler.compile(text, parameters);
  return 'holds' in condition ? condition.holds({ tool: 'pay', args }, given) : condition;
}

describe('a condition', () => {
  it.each<[string, JsonObject, boolean]>([
    ['args.amount <= 50.0', { amount: 50 }, true],
    ['args.amount <= 50.0', { amount: 50.01 }, false],
    ['double(args.amount) <= 50.0 && history.count("pay") == 2', { amount: 1 }, true],
    ['args.count == 3', { count: 3 }, true],
    ['args.to.account.startsWith("DE")', { to: { account: 'DE1' } }, true],
    ['has(args.note)', {}, false],
    ['args.items.exists(i, i.price > 4)', { items: [{ price: 3 }, { price: 5 }] }, true],
    ['args.any == 7', { any: 7 }, true],
    ['args.note.matches("^(ls|cat)( |$)")', { note: 'ls -l' }, true],
    ['history.sum("pay", "amount") == 12.5', {}, true],
    ['history.last("pay").args.amount == 7.5', {}, true],
    ['"pii" in history.labels', {}, true],
    ['caller.email == "ann@example.com" && caller.acr == "gold"', {}, true],
    ['has(caller.org_id)', {}, false],
    ['task.surface == "mcp" && task.session == "s-1" && task.workflow_id == "w-1"', {}, true],
    ['"finance" in caller.groups && caller.claims.level >= 3', {}, true],
    ['"roles" in caller.claims && "a" in caller.claims["roles"]', {}, true],
    ['has(caller.claims.toString) || has(caller.claims.department)', {}, false],
    ['task.depth == 2', {}, true],
    ['call.cwd == "/app" && !has(call.client)', {}, true],
    ['environment.STAGE == "live"', {}, true],
    ['now < timestamp("2026-03-01T10:00:00Z") && tool == "pay"', {}, true],
  ])('%s of %j is %s', (text, args, expected) => {
    expect(holds(text, args)).toBe(expected);
  });

  it.each<[string, JsonObject, Partial<CallFacts>?]>([
    ['args.note == "x"', {}],
    ['args.amount > 5.0', { amount: 'much' }],
    ['args.count > 2', { count: 1.5 }],
    ['args.any > 3', { any: 'x' }],
    ['caller.email == "x"', {}, { requester: null }],
    ['"finance" in caller.groups', {}, { requester: { provider: 'p', userId: 'u' } }],
    ['caller.claims.department == "x"', {}],
    ['history.sum("pay", "fee") > 1.0', {}],
    [
      'history.sum("pay", "amount") > 1.0',
      {},
      { ran: [{ ...ran('pay', {}), args: '{"amount": 1' }] },
    ],
    ['history.last("refund").outcome == "failed"', {}],
    ['args.items[3].price > 1', { items: [] }],
  ])('that cannot be evaluated is neither: %s of %j', (text, args, given = {}) => {
    expect(holds(text, args, { ...facts, ...given })).toBeNull();
  });
});

const unnamedClaim = 'name the claim, such as caller.claims.department or "roles" in caller.claims';

describe('a refused expression', () => {
  it.each([
    ['args.amuont > 5.0', 'No such key: amuont', 5],
    ['args.note + 1 == "x"', 'no such overload: string + int', 0],
    ['args.to.acount == "x"', 'No such key: acount', 8],
    ['args.amount', 'the expression must be true or false, and it is of type double', 0],
    ['args.amount >', 'Unexpected token: EOF', 13],
    ['caller.group == "x"', 'No such key: group', 7],
    ['caller.groups == "x"', 'no such overload: list<string> == string', 0],
    ['task.depth == "x"', 'no such overload: int == string', 0],
    ['caller.claims.exists(k, k == "x")', unnamedClaim, 7],
    ['caller["claims"] == {}', unnamedClaim, 0],
    ['callr.email == "x"', 'Unknown variable: callr', 0],
    ['args.note.matches(args.note)', 'the pattern of matches() must be a string in quotes', 0],
    [
      'args.items.all(i, args.items.exists(j, i == j))',
      'exists() inside a macro must be called on the current element; move it out of the macro',
      18,
    ],
    [
      'args.items.all(i, i in args.items)',
      'the list of "in" inside a macro must be of the current element; move it out of the macro',
      18,
    ],
    [
      'args.items.map(i, args.note + i.name).size() > 0',
      'both sides of "+" inside a macro must be of the current element; move it out of the macro',
      18,
    ],
    [
      'args.items.all(i, args.note.contains(i.name))',
      'contains() inside a macro must be called on the current element; move it out of the macro',
      18,
    ],
    [
      'args.items.all(i, size(args.note) > 0)',
      'size() inside a macro must be called on the current element; move it out of the macro',
      18,
    ],
    [
      'args.items.exists(i, i.tags.exists(t, i.tags.exists(u, u == t)))',
      'exists() inside a macro must be called on the current element; move it out of the macro',
      38,
    ],
    ['args.note.matchRe("a")', 'unknown function matchRe', 10],
    ['args.note // matches\n .matches("a")', 'write .matches() without a comment before it', 31],
    ['x'.repeat(5_000), 'the expression is longer than 4096 characters; split the rule', 4_096],
  ])('%s', (text, message, at) => {
    expect(holds(text, {})).toEqual({ message, at });
  });

  it('may have a pattern that RE2 refuses', () => {
    expect(holds('args.note.matches("(?=a)b")', {})).toMatchObject({ at: 18 });
  });
});

it('a pattern made for backtracking takes linear time', () => {
  const began = performance.now();
  expect(holds('args.note.matches("^(a+)+$")', { note: `${'a'.repeat(50_000)}b` })).toBe(false);
  expect(performance.now() - began).toBeLessThan(2_000);
});
