import { describe, expect, it, vi } from 'vitest';
import { createActor, toPromise } from 'xstate';
import type { CallFacts } from '../../../../src/actors/governance/conditions/condition-input.ts';
import { createGovern, type GovernPorts } from '../../../../src/actors/governance/policy/govern.ts';
import type { Policy } from '../../../../src/actors/governance/policy/policy.ts';
import { randomIds } from '../../../../src/actors/random-ids.ts';
import type { RanCall } from '../../../../src/machines/domain/task.ts';
import type { CallLimit, MeasureInput } from '../../../../src/machines/governance/bounds.ts';
import type { Modification } from '../../../../src/machines/governance/ruling.ts';
import type { JsonObject } from '../../../../src/machines/json.ts';
import { aPolicy } from '../../../helpers/a-policy.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import * as fixture from '../../../helpers/task-fixtures.ts';

const call = fixture.aCall({ tool: 'pay' });
const changed = { ...call, args: { amount: 1 }, argsSha256: 'b2'.repeat(32), asked: call.args };
const earlier: RanCall = {
  ...{ tool: 'pay', callId: 'c-0', argsSha256: '', args: '{}', outcome: 'succeeded', at: 1 },
};

const limit: CallLimit = {
  ...{ name: 'a_day', key: '{}', by: {}, period: { rolling: 1 }, max: '50' },
  ...{ amount: '0', over: null },
};
const { amount: _, over: __, ...standing } = limit;
const measured = { ...standing, used: '0', reserved: '0', amount: '0', isOver: false };
const free = { limits: [measured], first: null, reserved: null };
const full = { ...free, limits: [{ ...measured, isOver: true }] };

async function ruled(ports: Partial<GovernPorts>, input: object = {}) {
  const error = vi.fn();
  const govern = createGovern({
    ...{ policy: aPolicy(), scorer: null, ids: randomIds() },
    tools: new Map([['pay', toolCalled('pay')]]),
    log: { info: () => undefined, warn: () => undefined, error },
    ...ports,
  });
  const actor = createActor(govern, {
    input: {
      ...{ taskId: 'task-1', call, request: fixture.aTaskInput().request, scores: [], now: 7 },
      requester: fixture.aCaller(),
      task: { surface: 'mcp', session: 's-1', tags: {} },
      ...input,
    },
  });
  const ruling = toPromise(actor);
  actor.start();
  return ruling;
}

/** A policy that notes the facts of each ruling. */
function noting(facts: (CallFacts | undefined)[], more: Partial<Policy> = {}) {
  return aPolicy({
    readsHistory: () => true,
    rulesFor: (_, given) => {
      facts.push(given);
      return fixture.toolRules();
    },
    ...more,
  });
}

describe('a rule on the session', () => {
  it('reads all calls of the session, including those of the run', async () => {
    const facts: (CallFacts | undefined)[] = [];
    const own = { ...earlier, callId: 'c-1', at: 2 };
    await ruled({ policy: noting(facts), historyOf: async () => [earlier] }, { ran: [own] });
    expect(facts).toMatchObject([
      { ran: [earlier, own], task: { id: 'task-1', surface: 'mcp', session: 's-1' }, now: 7 },
    ]);
  });

  it('reads none where they are too many', async () => {
    const facts: (CallFacts | undefined)[] = [];
    await ruled({ policy: noting(facts), historyOf: async () => null }, { ran: [earlier] });
    expect(facts).toMatchObject([{ ran: null }]);
  });

  it('denies where they cannot be read', async () => {
    const historyOf = () => Promise.reject(new Error('gone'));
    expect(await ruled({ policy: noting([]), historyOf })).toMatchObject({
      kind: 'deny',
      text: 'governance failed: the calls of the session could not be read',
    });
  });
});

describe('a rule on a limit', () => {
  const reading = (facts: (CallFacts | undefined)[], more: Partial<Policy> = {}) =>
    noting(facts, { readsHistory: () => false, limitsReadBy: () => [limit], ...more });

  it('reads what is left of it, and reserves nothing', async () => {
    const facts: (CallFacts | undefined)[] = [];
    const asked: MeasureInput[] = [];
    const measure: GovernPorts['measure'] = async (given) => {
      asked.push(given);
      const used = { used: '12.5', reserved: '10', amount: '0', isOver: false };
      return { limits: [{ ...standing, ...used }], first: null, reserved: null };
    };
    await ruled({ policy: reading(facts), measure });
    expect(facts).toMatchObject([{ task: { limits: { a_day: '27.5' } } }]);
    expect(asked).toEqual([
      {
        ...{ taskId: 'task-1', call, requester: fixture.aCaller() },
        ...{ bounds: { limits: [limit], effect: null }, reserves: false, joins: false, seen: null },
      },
    ]);
  });

  it('reads the calls of the session as well', async () => {
    const facts: (CallFacts | undefined)[] = [];
    const measure: GovernPorts['measure'] = async () => ({
      ...{ limits: [], first: null, reserved: null },
    });
    const historyOf = async () => [earlier];
    await ruled({ policy: reading(facts, { readsHistory: () => true }), historyOf, measure });
    expect(facts).toMatchObject([{ ran: [earlier], task: { limits: {} } }]);
  });

  it.each([
    ['without a ledger', undefined],
    ['of a ledger that fails', () => Promise.reject(new Error('gone'))],
  ])('has no value %s', async (_, measure) => {
    const facts: (CallFacts | undefined)[] = [];
    await ruled({ policy: reading(facts), ...(measure === undefined ? {} : { measure }) });
    expect(facts).toMatchObject([{ task: { limits: {} } }]);
  });
});

describe('the limits of a call', () => {
  it('are those of the call that would run', async () => {
    const given: JsonObject[] = [];
    const modify = (): Modification => ({
      kind: 'modified',
      call: changed,
      rules: [1],
      changes: [],
    });
    const policy = aPolicy({
      modify,
      rulesFor: () => fixture.toolRules({ modifies: true }),
      boundsOf: ({ args }) => {
        given.push(args);
        return { limits: [], effect: null };
      },
    });
    const measured: JsonObject[] = [];
    const measure: GovernPorts['measure'] = async ({ call: { args } }) => {
      measured.push(args);
      return { limits: [], first: null, reserved: [] };
    };
    expect(await ruled({ policy, measure })).toMatchObject({ kind: 'allow', call: changed });
    expect([given.at(-1), measured]).toEqual([changed.args, [changed.args]]);
  });

  it.each([
    ['is over a limit by then', async () => full, ['g-1'], 'defer'],
    ['cannot be measured any more', () => Promise.reject(new Error('gone')), ['g-1'], 'deny'],
    ['runs', async () => ({ ...free, reserved: [] }), [], 'allow'],
  ])('and the use of a grant: a call that %s', async (_, answer, returned, kind) => {
    const defer = fixture.aDeferRule({ remember: { time: 1_000, uses: 2 } });
    const policy = aPolicy({
      rulesFor: () => fixture.toolRules({ defer }),
      boundsOf: () => ({ limits: [{ ...limit, over: fixture.aDeferRule() }], effect: null }),
    });
    const given: string[] = [];
    const ruling = await ruled({
      policy,
      redeem: async () => ({ id: 'g-1', approver: 'ann@example.com', usesLeft: 1 }),
      giveBack: async (id) => void given.push(id),
      measure: async ({ reserves }) => (reserves ? answer() : free),
    });
    expect([given, ruling.kind]).toEqual([returned, kind]);
  });

  it('and the use of a grant once, also if the store answers with an error', async () => {
    const defer = fixture.aDeferRule({ remember: { time: 1_000, uses: 2 } });
    const policy = aPolicy({
      rulesFor: () => fixture.toolRules({ defer }),
      boundsOf: () => ({ limits: [{ ...limit, over: fixture.aDeferRule() }], effect: null }),
    });
    const given: string[] = [];
    const ruling = await ruled({
      policy,
      redeem: async () => ({ id: 'g-1', approver: 'ann@example.com', usesLeft: 1 }),
      // It may have been stored before the connection was lost.
      giveBack: async (id) => {
        given.push(id);
        throw new Error('connection terminated');
      },
      measure: async ({ reserves }) => (reserves ? full : free),
    });
    expect([given, ruling.kind]).toEqual([['g-1'], 'defer']);
  });

  it('that the policy cannot determine deny the call', async () => {
    const boundsOf = () => {
      throw new Error('no');
    };
    expect(await ruled({ policy: aPolicy({ boundsOf }) })).toMatchObject({
      ...{ kind: 'deny', text: 'governance failed: the policy could not be consulted' },
    });
  });
});

describe('a call that MODIFY changed', () => {
  const modify = (): Modification => ({ kind: 'modified', call: changed, rules: [1], changes: [] });

  it('is held by the rule for the changed call', async () => {
    const rule = fixture.aDeferRule();
    const policy = aPolicy({ modify, deferRuleOf: () => ({ rule, name: 'defer.tools.pay[1]' }) });
    expect(await ruled({ policy })).toMatchObject({
      kind: 'defer',
      records: expect.arrayContaining([
        expect.objectContaining({ decision: 'defer', rule: 'defer.tools.pay[1]' }),
      ]),
    });
  });

  it('is denied where that rule cannot be found', async () => {
    const policy = aPolicy({
      modify,
      rulesFor: () => fixture.toolRules({ defer: fixture.aDeferRule() }),
      deferRuleOf: () => {
        throw new Error('broken');
      },
    });
    expect(await ruled({ policy })).toMatchObject({ kind: 'deny', layer: 'defer' });
  });

  it('needs the sign-in level of the arguments from the model', async () => {
    const policy = aPolicy({
      rulesFor: ({ args }) =>
        fixture.toolRules({ requiredAcr: args === changed.args ? null : 'gold' }),
    });
    expect(await ruled({ policy }, { call: changed })).toMatchObject({
      kind: 'stepUp',
      requiredAcr: 'gold',
    });
  });
});
