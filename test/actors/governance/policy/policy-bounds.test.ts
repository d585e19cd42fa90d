import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallFacts } from '../../../../src/actors/governance/conditions/condition-input.ts';
import { createPolicy, type Policy } from '../../../../src/actors/governance/policy/policy.ts';
import { noFacts } from '../../../../src/actors/governance/policy/rule-lists.ts';
import { withIncluded } from '../../../../src/actors/governance/policy/with-included.ts';
import { securitySchema } from '../../../../src/actors/governance/settings/schema-security.ts';
import type { Bounds } from '../../../../src/machines/governance/bounds.ts';
import type { JsonObject, JsonValue } from '../../../../src/machines/json.ts';
import { runs } from '../../../helpers/runs.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import { aCaller } from '../../../helpers/task-fixtures.ts';

const number = { type: 'number' };
const parameters = {
  type: 'object',
  properties: { amount: number, order: { type: 'object', properties: { total: number } } },
};
const tools = new Map(
  ['pay', 'pay_out', 'refund'].map((name) => [name, { ...toolCalled(name), parameters: {} }]),
);
tools.set('closed', { ...toolCalled('closed'), parameters });

const off = {
  ...{ isAuthOn: false, guardrails: null, modify: null, credentials: null, tools },
  ...{ agentId: 'desk', scrub: (text: string) => text },
};

function policyOf(security: object, parts: object = {}): Policy {
  return createPolicy({ security: securitySchema.parse(security), ...off, ...parts });
}

const day = { tools: ['pay'], per: '24h', max: 5000, over: 'deny' };

const facts: CallFacts = {
  ...noFacts,
  requester: aCaller({ provider: 'oidc', userId: 'u-1', orgId: 'acme' }),
  task: { id: 't', surface: 'rest', session: 's-1', tags: {} },
  ran: [],
  now: 7,
};

function boundsOf(security: object, args: JsonObject = {}, tool = 'pay'): Bounds | null {
  return policyOf(security).boundsOf({ tool, args }, facts);
}

function limitOf(limit: object, args: JsonObject = {}, tool = 'pay') {
  return boundsOf({ limits: { a_day: { ...day, ...limit } } }, args, tool)?.limits[0];
}

describe('a limit', () => {
  it('counts the calls of its tools, by name and by pattern, in either spelling', () => {
    const counted = (names: string[]) =>
      ['pay', 'pay_out', 'pay-out', 'refund'].filter((tool) => limitOf({ tools: names }, {}, tool));
    expect(counted(['pay'])).toEqual(['pay']);
    expect(counted(['pay_*'])).toEqual(['pay_out', 'pay-out']);
    expect(counted(['refund', 'p*'])).toEqual(['pay', 'pay_out', 'pay-out', 'refund']);
    expect(boundsOf({}, {})).toBeNull();
  });

  it('has its period, maximum and rule', () => {
    expect(limitOf({})).toEqual({
      ...{ name: 'a_day', key: '{}', by: {}, amount: '1', max: '5000', over: null },
      period: { rolling: 86_400_000 },
    });
    const per = { calendar: 'month', zone: 'Europe/Berlin' };
    const defer = { enabled: true, default_timeout: '5m', default_approvers: ['ann@example.com'] };
    const limit = { ...day, per, max: '0.50', over: 'defer', to: 'channel:console:leads' };
    expect(boundsOf({ defer, limits: { a_day: { ...limit, quorum: 2, shadow: true } } })).toEqual({
      effect: null,
      limits: [
        {
          ...{ name: 'a_day', key: '{}', by: {}, amount: '1', max: '0.5', isShadow: true },
          period: per,
          over: {
            ...{ to: ['channel:console:leads'], timeout: 300_000, quorum: 2, remind: false },
            ...{ contextTemplate: 'tool={tool} args={args}', approvers: ['ann@example.com'] },
            ...{ bindApprover: false, distinctCallers: false, onReject: 'fail', escalateTo: null },
          },
        },
      ],
    });
  });

  it('shows a call as the rule of its tool does, unless it states another form', () => {
    const pay = { to: 'channel:console:team', context_template: 'pay {args}', display: ['args.a'] };
    const shown = (own: object) => {
      const limit = { ...day, over: 'defer', to: 'channel:console:leads', ...own };
      const defer = { enabled: true, tools: { pay } };
      const { over } = boundsOf({ defer, limits: { a_day: limit } })?.limits[0] ?? {};
      return [over?.to, over?.contextTemplate, over?.display];
    };
    expect(shown({})).toEqual([['channel:console:leads'], 'pay {args}', ['args.a']]);
    const own = { context_template: '{tool}', display: ['args.b'] };
    expect(shown(own)).toEqual([['channel:console:leads'], '{tool}', ['args.b']]);
  });

  it('counts only calls under its condition; one that cannot be evaluated has no amount', () => {
    const when = 'args.currency == "EUR"';
    const amount = 'args.amount';
    expect(limitOf({ when, amount }, { amount: 5, currency: 'EUR' })?.amount).toBe('5');
    expect(limitOf({ when, amount }, { amount: 5, currency: 'USD' })).toBeUndefined();
    expect(limitOf({ when, amount }, { amount: 5 })?.amount).toBeNull();
    expect(limitOf({ when, amount }, { amount: 5, currency: ['EUR'] })?.amount).toBeNull();
  });

  it('has no amount for a call with an argument that the schema does not name', () => {
    const amount = 'args.order.total';
    const amountOf = (args: JsonObject) =>
      limitOf({ tools: ['closed'], amount }, args, 'closed')?.amount;
    expect(amountOf({ order: { total: 5 } })).toBe('5');
    expect(amountOf({ order: { total: 5, cents: 9 } })).toBeNull();
    expect(amountOf({ order: { total: 5 }, total: 900 })).toBeNull();
  });

  it('counts a call that no condition can exempt, since the schema does not name an argument', () => {
    const read = (args: JsonObject, limit: object) =>
      limitOf({ tools: ['closed'], ...limit }, args, 'closed');
    const large = { when: 'args.amount > 9.0' };
    expect(read({ amount: 5 }, large)).toBeUndefined();
    expect(read({ amount: 5, Amount: 900 }, large)).toMatchObject({ amount: null });
    const by = { by: ['string(args.amount)'] };
    expect(read({ amount: 5 }, by)).toMatchObject({ amount: '1' });
    expect(read({ amount: 5, Amount: 900 }, by)).toMatchObject({ amount: null });
    expect(read({ amount: 5, Amount: 900 }, {})).toMatchObject({ amount: '1' });
    expect(read({ amount: 5, Amount: 900 }, { when: 'tool == "pay"' })).toBeUndefined();
  });

  it('decides nothing while the policy only reports', () => {
    const bounds = boundsOf({
      policy: { mode: 'shadow' },
      limits: { a_day: day },
      effects: { pay: { key: 'pay' } },
    });
    expect(bounds?.limits[0]?.isShadow).toBe(true);
    expect(bounds?.effect?.isShadow).toBe(true);
  });
});

describe('the key of a limit', () => {
  const keyOf = (by: string[], given: Partial<CallFacts> = {}, args: JsonObject = {}) => {
    const policy = policyOf({ limits: { a_day: { ...day, tools: ['*'], by } } });
    const bounds = policy.boundsOf({ tool: 'pay_out', args }, { ...facts, ...given });
    return bounds?.limits[0]?.key;
  };

  it('has the verified caller, the organisation, the session, the agent and the tool', () => {
    expect(keyOf(['tool', 'caller', 'org', 'session', 'agent'])).toBe(
      '{"agent":"desk","caller":["oidc","u-1"],"org":"acme","session":"s-1","tool":"pay-out"}',
    );
  });

  it('is the same in another order', () => {
    expect(keyOf(['tool', 'caller'])).toBe(keyOf(['caller', 'tool']));
  });

  it('of a call without a caller is one that no caller can have', () => {
    const keys = [
      ...[
        null,
        aCaller({ userId: 'null' }),
        aCaller({ userId: '' }),
        aCaller({ userId: '[null]' }),
      ],
      ...[aCaller({ provider: 'a","b', userId: 'c' }), aCaller({ provider: 'a', userId: 'b","c' })],
    ].map((requester) => keyOf(['caller'], { requester }));
    expect(new Set(keys).size).toBe(6);
    expect(keyOf(['org'], { requester: null })).toBe('{"org":null}');
    expect(keyOf(['session'], { task: noFacts.task })).toBe('{"session":null}');
  });

  it('of different callers differs', () => {
    const caller = fc.record({ provider: fc.string(), userId: fc.string() });
    fc.assert(
      fc.property(caller, caller, (one, other) => {
        const isSame = one.provider === other.provider && one.userId === other.userId;
        const [first, second] = [one, other].map((requester) => keyOf(['caller'], { requester }));
        return (first === second) === isSame;
      }),
      { numRuns: runs(200) },
    );
  });

  it('has the value of an expression; without one the call has no amount', () => {
    const by = ['args.region'];
    expect(keyOf(by, {}, { region: 'EU' })).toBe('{"args.region":"EU"}');
    expect(limitOf({ by }, { region: 'EU' })?.amount).toBe('1');
    expect(limitOf({ by }, {})).toMatchObject({ amount: null, key: '{"args.region":null}' });
    expect(limitOf({ by }, { region: 5 })?.amount).toBeNull();
  });

  it.each(['ann ', ' ann', 'a\u200bnn', 'ａnn', 'a\u2800nn', '\u00a0ann\t'])(
    'is the same for the expression with %j',
    (region) => {
      expect(keyOf(['args.region'], {}, { region })).toBe('{"args.region":"ann"}');
    },
  );

  it('differs by case, and by spaces inside a value', () => {
    const keys = ['ann lee', 'Ann Lee', 'annlee'].map((region) =>
      keyOf(['args.region'], {}, { region }),
    );
    expect(new Set(keys).size).toBe(3);
    expect(keyOf(['args.region'], {}, { region: 'ann \u200b\nlee' })).toBe(keys[0]);
  });

  it('has verified values as they are', () => {
    const requester = aCaller({ provider: 'oidc', userId: 'ａnn ', orgId: 'ａcme ' });
    const task = { ...noFacts.task, session: 'ｓ ' };
    expect(keyOf(['caller', 'org', 'session'], { requester, task })).toBe(
      '{"caller":["oidc","ａnn "],"org":"ａcme ","session":"ｓ "}',
    );
  });

  it('is the same for the forms of a long value', () => {
    const [one, other] = ['A'.repeat(300), `Ａ${'A'.repeat(299)} `].map((region) =>
      keyOf(['args.region'], {}, { region }),
    );
    expect(one).toBe(other);
  });

  it('is short for any value', () => {
    const long = keyOf(['args.region'], {}, { region: 'x'.repeat(10_000) }) ?? '';
    expect(long).toMatch(/^\{"args\.region":\["sha256","[0-9a-f]{64}"\]\}$/);
    expect(long).not.toBe(keyOf(['args.region'], {}, { region: 'x'.repeat(10_001) }));
  });
});

/** Values that a program may read as a larger amount than a careless reader does. */
const hostile = fc.oneof<fc.Arbitrary<JsonValue>[]>(
  ...[fc.double(), fc.integer(), fc.string(), fc.string({ unit: 'grapheme' }), fc.boolean()],
  fc.constantFrom<JsonValue[]>(
    ...[
      '1e9',
      '０１',
      '-5',
      '1,000',
      '1.000,00',
      '0x7fffffff',
      '٣',
      ' 9',
      '9 ',
      '1_000',
      '+9',
      '९',
    ],
    ...[[9], [[9]], ['9'], { valueOf: 9 }, { toString: '9' }, { amount: 9 }, null, [], {}, true],
    ...[1e308, Number.MAX_SAFE_INTEGER, 2 ** 53, 2 ** 60, 0.1 + 0.2, 1e-300, -1e-9],
  ),
  fc.double().map(String),
  fc.bigInt().map(String),
  fc.jsonValue() as fc.Arbitrary<JsonValue>,
);

it('a hostile call never adds less than it is', () => {
  const policy = policyOf({ limits: { a_day: { ...day, amount: 'args.amount' } } });
  fc.assert(
    fc.property(hostile, (amount) => {
      const [limit] = policy.boundsOf({ tool: 'pay', args: { amount } }, facts)?.limits ?? [];
      if (limit?.amount === null) return;
      expect(limit?.amount).toMatch(/^\d+(\.\d+)?$/);
      // Only a plain number, or a string of plain digits, has an amount, and it is exactly that.
      expect(['number', 'string']).toContain(typeof amount);
      if (typeof amount === 'string') expect(amount).toMatch(/^[0-9]+(\.[0-9]+)?$/);
      expect(Number(limit?.amount)).toBe(Number(amount) + 0);
    }),
    { numRuns: runs(1_000) },
  );
  for (const args of [{}, { Amount: 5 }, { amount: { amount: 5 } }, { __proto__: { amount: 5 } }]) {
    const [limit] = policy.boundsOf({ tool: 'pay', args: args as JsonObject }, facts)?.limits ?? [];
    expect(limit?.amount).toBeNull();
  }
  const inherited = policyOf({ limits: { a_day: { ...day, amount: 'args.toString.length' } } });
  expect(inherited.boundsOf({ tool: 'pay', args: {} }, facts)?.limits[0]?.amount).toBeNull();
});

describe('an effect', () => {
  const effectOf = (effects: object, args: JsonObject = {}, tool = 'pay') =>
    boundsOf({ defer: { enabled: true }, effects }, args, tool)?.effect;
  const keyOf = (args: JsonObject, key = 'refund:{args.id}', tool = 'pay') =>
    effectOf({ '*': { key } }, args, tool)?.key;

  it('is that of the name of the tool, else of the first pattern', () => {
    const effects = { 'p*': { key: '1' }, 'pay_*': { key: '2' }, pay_out: { key: '3' } };
    expect(effectOf(effects, {}, 'pay-out')?.name).toBe('pay_out');
    expect(effectOf(effects, {}, 'pay_in')?.name).toBe('p*');
    expect(effectOf(effects, {}, 'refund')).toBeUndefined();
  });

  it('has its key, its rule and its time', () => {
    const effects = {
      pay: { key: '{tool}:{args.id}', repeat: 'join', within: '30d', reconcile: 'find' },
    };
    expect(effectOf(effects, { id: 'A1' })).toEqual({
      ...{ name: 'pay', key: 'pay:A1', repeat: 'join', within: 30 * 86_400_000, reconcile: 'find' },
      over: {
        ...{ to: ['channel:console:*'], timeout: 600_000, quorum: 1, remind: false },
        ...{ contextTemplate: 'tool={tool} args={args}', approvers: null, escalateTo: null },
        ...{ bindApprover: false, distinctCallers: false, onReject: 'fail' },
      },
    });
  });

  it('is held as the rule of its tool says, with its own demands', () => {
    const tools = {
      pay: {
        to: 'channel:console:team',
        approvers: ['ann@example.com', 'bob@example.com'],
        timeout: '1h',
      },
    };
    const over = (effect: object) =>
      boundsOf({
        defer: { enabled: true, default_approvers: ['eve@example.com'], tools },
        effects: { pay: { key: 'k', ...effect } },
      })?.effect?.over;
    expect(over({})).toMatchObject({
      ...{ to: ['channel:console:team'], approvers: ['ann@example.com', 'bob@example.com'] },
      ...{ timeout: 3_600_000, quorum: 1 },
    });
    expect(over({ approvers: ['ann@example.com'], four_eyes: true, timeout: '5m' })).toMatchObject({
      ...{ to: ['channel:console:team'], approvers: ['ann@example.com'] },
      ...{ timeout: 300_000, fourEyes: true },
    });
    expect(over({ to: 'channel:console:leads' })).toMatchObject({
      ...{ to: ['channel:console:leads'], approvers: ['eve@example.com'], timeout: 600_000 },
    });
  });

  it.each<[string, JsonValue]>([
    ['spaces', ' A1\t'],
    ['invisible characters', 'A\u200b1\u00ad'],
    ['a wide form', 'Ａ１'],
    ['a control character', 'A\u00001'],
    ['an empty Braille pattern', 'A\u28001'],
    ['many invisible characters', `A${'\u200b'.repeat(5_000)}1`],
  ])('is the same with %s', (_, id) => {
    expect(keyOf({ id })).toBe('refund:A1');
  });

  it.each<[JsonValue | undefined, string]>([
    ['a1', 'refund:a1'],
    [7, 'refund:7'],
    [['A1'], 'refund:["A1"]'],
    [{ b: 1, a: [2] }, 'refund:{"a":[2],"b":1}'],
    [null, 'refund:null'],
    [undefined, 'refund:(none)'],
    ['{tool}', 'refund:{tool}'],
    ['$&', 'refund:$&'],
    ['\ud800', 'refund:'],
  ])('of %j is %s', (id, key) => {
    expect(keyOf(id === undefined ? {} : { id })).toBe(key);
  });

  it('has one name for the spellings of a tool', () => {
    expect(keyOf({}, '{tool}', 'pay_out')).toBe(keyOf({}, '{tool}', 'pay-out'));
  });

  it('is the same for the forms of a long value', () => {
    const plain = 'A'.repeat(300);
    for (const id of [`Ａ${'A'.repeat(299)}`, `${plain}\u2800 `]) {
      expect(keyOf({ id })).toBe(keyOf({ id: plain }));
    }
    expect(keyOf({ id: 'ﬃ'.repeat(100) })).toBe(keyOf({ id: 'ffi'.repeat(100) }));
    expect(keyOf({ id: plain })).not.toBe(keyOf({ id: plain.toLowerCase() }));
  });

  it('takes little time for many marks, and for characters that become many', () => {
    const began = performance.now();
    for (const some of ['\u0301\u0323', '\uff9e\u0323', '\u0344\u0327', 'ﷺ'.repeat(6)]) {
      keyOf({ id: `a${some.repeat(100_000)}` });
    }
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(keyOf({ id: 'Ａ'.repeat(1_000) })).toBe(keyOf({ id: 'A'.repeat(1_000) }));
  });

  it('is short for any arguments', () => {
    const long = 'x'.repeat(100_000);
    expect(keyOf({ id: long })).toMatch(/^refund:sha256:[0-9a-f]{64}$/);
    expect(keyOf({ id: long })).not.toBe(keyOf({ id: `${long}y` }));
    const many = 'k:{args.a}:{args.b}:{args.c}';
    const args = { a: 'x'.repeat(200), b: 'x'.repeat(200), c: '1' };
    expect(keyOf(args, many)?.length).toBeLessThan(400);
    expect(keyOf(args, many)).not.toBe(keyOf({ ...args, c: '2' }, many));
  });
});

describe('a condition on a limit', () => {
  const to = 'channel:console:*';
  const rules = [{ when: 'args.amount <= limits.a_day.left', allow: true }, { to }];
  const security = {
    defer: { enabled: true, tools: { pay: rules } },
    limits: { a_day: { ...day, by: ['caller'] }, unused: day },
  };
  const policy = policyOf(security);
  const call = { tool: 'pay', args: { amount: 100 } };
  const withLeft = (limits: Record<string, string>): CallFacts => ({
    ...facts,
    task: { ...facts.task, limits },
  });

  it('names the limits that have to be read, with the key of the call', () => {
    expect(policy.limitsReadBy(call, facts)).toEqual([
      {
        ...{
          name: 'a_day',
          key: '{"caller":["oidc","u-1"]}',
          by: { caller: 'rita@example.com' },
          amount: '0',
        },
        ...{ max: '5000', over: null, period: { rolling: 86_400_000 } },
      },
    ]);
    expect(policy.limitsReadBy({ ...call, tool: 'refund' }, facts)).toEqual([]);
  });

  it('compares with what is left', () => {
    const isHeld = (limits: Record<string, string>) =>
      policy.deferRuleOf(call, withLeft(limits)).rule !== null;
    expect(isHeld({ a_day: '100' })).toBe(false);
    expect(isHeld({ a_day: '99.99' })).toBe(true);
    expect(isHeld({ a_day: '-5' })).toBe(true);
  });

  it('fails closed for a limit that was not read', () => {
    expect(policy.deferRuleOf(call, withLeft({})).rule).not.toBeNull();
    expect(policy.deferRuleOf(call, facts).rule).not.toBeNull();
    expect(policy.deferRuleOf(call, withLeft({ unused: '9000' })).rule).not.toBeNull();
  });
});

describe('the limits of an included policy', () => {
  const ann = 'ann@example.com';
  const [ours, theirs] = [{ a_day: { ...day, max: 9 } }, { a_day: day }];

  function overlapping(own: object, included: object): Policy {
    return withIncluded(
      policyOf({ effects: { '*_refund': { key: 'ours', ...own } } }),
      policyOf({ effects: { 'pay_*': { key: 'theirs', ...included } } }, { from: 'shared.yaml' }),
    );
  }

  it('count besides those of the agent, under names of their own', () => {
    const joined = withIncluded(
      policyOf({ limits: ours }),
      policyOf({ limits: theirs }, { from: 'shared.yaml' }),
    );
    const found = joined.boundsOf({ tool: 'pay', args: {} }, facts)?.limits;
    expect(found?.map(({ name, max }) => [name, max])).toEqual([
      ['shared.yaml#a_day', '5000'],
      ['a_day', '9'],
    ]);
  });

  it('are read by its own conditions', () => {
    const defer = {
      enabled: true,
      tools: {
        pay: [{ when: 'limits.a_day.left > 50.0', allow: true }, { to: 'channel:console:*' }],
      },
    };
    const included = policyOf({ defer, limits: theirs }, { from: 'shared.yaml' });
    const joined = withIncluded(policyOf({ limits: ours }), included);
    const call = { tool: 'pay', args: {} };
    expect(joined.limitsReadBy(call, facts).map(({ name }) => name)).toEqual(['shared.yaml#a_day']);
    const isHeld = (limits: Record<string, string>) =>
      joined.deferRuleOf(call, { ...facts, task: { ...facts.task, limits } }).rule !== null;
    expect(isHeld({ 'shared.yaml#a_day': '51' })).toBe(false);
    expect(isHeld({ a_day: '51' })).toBe(true);
  });

  it('cannot replace the approvers of the other policy', () => {
    const over = { ...day, over: 'defer', to: 'channel:console:mine' };
    const asking = (approvers: string[]) => ({
      enabled: true,
      tools: { pay: { to: 'channel:console:theirs', approvers } },
    });
    const joined = withIncluded(
      policyOf({
        defer: { enabled: true },
        limits: { a_day: { ...over, approvers: ['me@example.com'] } },
      }),
      policyOf({ defer: asking([ann]) }, { from: 'shared.yaml' }),
    );
    const [limit] = joined.boundsOf({ tool: 'pay', args: {} }, facts)?.limits ?? [];
    expect(limit?.over).toMatchObject({ to: ['channel:console:theirs'], approvers: [] });
  });

  it('add an effect, and the one of the included policy counts', () => {
    const effects = (key: string) => ({ defer: { enabled: true }, effects: { pay: { key } } });
    const call = { tool: 'pay', args: {} };
    const both = withIncluded(policyOf(effects('ours')), policyOf(effects('theirs')));
    expect(both.boundsOf(call, facts)?.effect?.key).toBe('theirs');
    const only = withIncluded(policyOf(effects('ours')), policyOf({}));
    expect(only.boundsOf(call, facts)?.effect?.key).toBe('ours');
  });

  it.each([
    [{}, { shadow: true }, 'ours'],
    [{ shadow: true }, {}, 'theirs'],
    [{ shadow: true }, { shadow: true }, 'theirs'],
  ])('have the effect in force of two whose patterns overlap: %j, %j', (own, included, key) => {
    const both = overlapping(own, included);
    const effect = both.boundsOf({ tool: 'pay_refund', args: {} }, facts)?.effect;
    expect(effect?.key).toBe(key);
  });

  it('are an error for a call with two in force, which is denied', () => {
    const both = overlapping({}, {});
    expect(() => both.boundsOf({ tool: 'pay_refund', args: {} }, facts)).toThrow(
      'a call has only one effect, and both shared.yaml#pay_* and *_refund are for this call',
    );
    expect(both.boundsOf({ tool: 'pay_out', args: {} }, facts)?.effect?.key).toBe('theirs');
    expect(both.boundsOf({ tool: 'a_refund', args: {} }, facts)?.effect?.key).toBe('ours');
  });
});

it('what limits read of callers is stored with their tasks', () => {
  const policy = policyOf({
    defer: { enabled: true },
    limits: {
      a_day: {
        ...{ ...day, over: 'defer', to: 'channel:console:*', approvers: ['group:finance'] },
        ...{ when: 'caller.claims.level > 3', by: ['string(caller.claims.shop)'] },
      },
    },
    effects: { pay: { key: 'k', approvers: ['claim:role=lead'] } },
  });
  expect(policy.callerReads).toEqual({
    groups: true,
    claims: new Set(['level', 'shop', 'role']),
  });
});

it('calls that a limit or an effect may hold are treated as those of a holding rule', () => {
  const policy = policyOf({
    defer: { enabled: true },
    limits: {
      a_day: { ...day, tools: ['pay_*'], over: 'defer', to: 'channel:console:*' },
      strict: day,
    },
    effects: { refund: { key: 'k' }, closed: { key: 'k', repeat: 'deny' } },
  });
  const held = ['pay', 'pay_out', 'refund', 'closed'].map((tool) => policy.mayHold(tool));
  expect(held).toEqual([false, true, true, false]);
  expect(policy.isConditional('pay_out')).toBe(true);
  expect(policy.isConditional('pay')).toBe(false);
});
