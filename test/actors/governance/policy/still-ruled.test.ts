import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import {
  createGovernInForce,
  Policies,
} from '../../../../src/actors/governance/policy/policies.ts';
import { createPolicy } from '../../../../src/actors/governance/policy/policy.ts';
import { definitionDigest } from '../../../../src/actors/governance/policy/runs-digest.ts';
import {
  stillRuled,
  wouldRuleAgain,
} from '../../../../src/actors/governance/policy/still-ruled.ts';
import { createToolViews, everyTool } from '../../../../src/actors/governance/policy/tool-views.ts';
import { securitySchema } from '../../../../src/actors/governance/settings/schema-security.ts';
import type { Tool } from '../../../../src/actors/ports/tool.ts';
import { randomIds } from '../../../../src/actors/random-ids.ts';
import type { Deferral, RanCall, ToolCall } from '../../../../src/machines/domain/task.ts';
import { ruledAs } from '../../../../src/machines/governance/ruled-as.ts';
import { runs } from '../../../helpers/runs.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import { aCall, aCaller, aTaskInput } from '../../../helpers/task-fixtures.ts';

/** What a ruling on a call of `pay` depends on. */
interface World {
  policySha256: string;
  /** The condition of the rule that holds the call, and of the one that denies it; `null` for none. */
  holdsWhen: string | null;
  deniedWhen: string | null;
  isShadow: boolean;
  description: string;
  /** The tool accepts amounts up to it; `null` for a tool that is gone. */
  most: number | null;
  identity: string | null;
  isElsewhere: boolean;
  credential: string;
  mode: string;
  now: number;
  ran: readonly RanCall[];
  view: 'off' | 'of the caller' | 'of others';
}

const first: World = {
  ...{ policySha256: 'a1'.repeat(32), holdsWhen: null, deniedWhen: null, isShadow: false },
  ...{ description: 'Pays.', most: 1_000, identity: null, isElsewhere: false },
  ...{ credential: 'one', mode: 'open', now: 1_000, ran: [], view: 'off' },
};

const earlier: RanCall = {
  ...{ tool: 'pay', callId: 'earlier', argsSha256: 'e0'.repeat(32), args: '{"amount":1}' },
  ...{ outcome: 'succeeded', at: 1 },
};

function toolOf({ description, most, identity, isElsewhere }: World): Tool {
  const check = ({ amount }: { amount?: unknown }) =>
    Number(amount) > (most ?? 0) ? 'the amount is too high' : null;
  const parameters = { type: 'object', properties: { amount: { type: 'number', maximum: most } } };
  return {
    ...{ ...toolCalled('pay'), description, parameters, check },
    ...(identity === null ? {} : { identity: async () => identity }),
    ...(isElsewhere ? { isElsewhere } : {}),
  };
}

const requester = aCaller({ email: 'ann@example.com' });

function inForce(world: World) {
  const { holdsWhen, deniedWhen, isShadow: shadow, credential, mode, view } = world;
  const when = (condition: string | null) => (condition === null ? {} : { when: condition });
  const security = securitySchema.parse({
    defer: { enabled: true, tools: { pay: [{ to: 'channel:desk:x', ...when(holdsWhen) }] } },
    guardrails: {
      enabled: true,
      denied_tools: deniedWhen === null ? [] : [{ tool: 'pay', shadow, ...when(deniedWhen) }],
    },
  });
  const tools = new Map(world.most === null ? [] : [['pay', toolOf(world)]]);
  const own = view === 'of the caller' ? ['ann@example.com'] : ['bob@example.com'];
  const policy = createPolicy({
    ...{ security, isAuthOn: false, tools, guardrails: null, modify: null },
    credentials: {
      providerOf: () => 'static',
      specOf: () => ({ key: credential }),
    } as never,
    scrub: (text) => text,
    environment: { MODE: mode },
    views:
      view === 'off'
        ? everyTool
        : createToolViews([{ for: own, tools: { allow: ['*'], deny: [] } }], ({ email }) => ({
            ...{ email: email ?? null, as: [] },
          })),
  });
  const policies = new Policies({
    ...{ sha256: world.policySha256, policy, scorer: null, mostWaiting: 1 },
  });
  return { policies, tools };
}

function rule(world: World, surface: string, call: ToolCall, deferral: Deferral | null) {
  const quiet = () => undefined;
  const { policies, tools } = inForce(world);
  const chart = createGovernInForce(policies, {
    ...{ tools, ids: randomIds(), log: { info: quiet, warn: quiet, error: quiet } },
    historyOf: async () => world.ran,
  });
  const input = {
    ...{ taskId: 'task-1', call, requester, request: aTaskInput().request, scores: [] },
    task: { surface, session: 's-1', tags: {} },
    held: deferral && { deferral, isReleased: true },
    now: world.now,
  };
  return toPromise(createActor(chart, { input }).start());
}

/** Rules on a call that is held in one world and released in another. */
async function release(before: World, after: World, stated: string | null = null) {
  const call = aCall({
    ...{ tool: 'pay', args: { amount: 500 }, offered: definitionDigest(toolOf(before)) },
    ...(stated === null ? {} : { runsSha256: stated }),
  });
  const { isElsewhere } = before;
  const surface = isElsewhere ? 'hold' : 'mcp';
  const held = await rule(before, surface, call, null);
  if (held.kind !== 'defer') return null;
  const approvals = [{ approver: 'bob@example.com', at: before.now }];
  const deferral = { ...held.deferral, approvals };
  const waiting = { call: held.call, deferral, isElsewhere };
  const isRuled = stillRuled(waiting, inForce(after));
  const made = JSON.stringify(ruledAs(waiting));
  const wouldBe = await wouldRuleAgain(made, inForce(after));
  return { held, isRuled, wouldBe, again: await rule(after, surface, held.call, deferral) };
}

const change = fc.constantFrom<Partial<World>>(
  { policySha256: 'b2'.repeat(32) },
  ...[{ description: 'Pays twice.' }, { most: 100 }, { most: null }, { identity: 'code' }],
  ...[{ isElsewhere: true }, { credential: 'two' }, { mode: 'closed' }, { now: 90_000 }],
  ...[{ ran: [earlier] }, { view: 'of the caller' as const }, { view: 'of others' as const }],
);
const changes = fc
  .array(change, { maxLength: 2 })
  .map((made) => Object.assign({}, ...made) as Partial<World>);
const outside = [
  ...['now < timestamp("1970-01-01T00:01:00Z")', 'history.count("pay") > 0'],
  ...['environment.MODE == "closed"', 'caller.email == "ann@example.com"', 'task.surface == "mcp"'],
];
/** Equal digests of a policy have equal rules. */
const rules = fc.record({
  holdsWhen: fc.constantFrom(null, 'args.amount > 100.0', 'tool == "pay"', ...outside),
  deniedWhen: fc.constantFrom(null, null, 'args.amount > 900.0', 'tool == "no"', ...outside),
  isShadow: fc.integer({ max: 9, min: 0 }).map((tenth) => tenth === 0),
});

describe('a ruling that is still valid', () => {
  it('is the one that the chart would make again', async () => {
    let standing = 0;
    const stories = fc.asyncProperty(
      ...[rules, rules, changes, changes, fc.constantFrom(null, 'c3'.repeat(32))],
      async (ruled, other, some, later, stated) => {
        const before: World = { ...first, ...ruled, ...some, policySha256: first.policySha256 };
        const isSame = (later.policySha256 ?? first.policySha256) === first.policySha256;
        const after: World = { ...before, ...(isSame ? {} : other), ...later };
        const released = await release(before, after, stated);
        if (released === null) return;
        // What is known at once is known at a start too.
        expect([released.isRuled, released.wouldBe]).not.toEqual([true, false]);
        if (!released.wouldBe) return;
        standing += 1;
        const { held, again } = released;
        expect(again).toEqual({
          ...{ kind: 'allow', call: held.call, credential: 'static' },
          ...{ records: [], facts: [], score: null },
        });
      },
    );
    await fc.assert(stories, { numRuns: runs(10_000) });
    expect(standing).toBeGreaterThan(runs(10_000) / 50);
  }, 120_000);

  it.each<[string, Partial<World>]>([
    ['nothing has changed', {}],
    ['the rule reads the arguments', { holdsWhen: 'args.amount > 100.0' }],
    ['a rule that denies reads the arguments', { deniedWhen: 'args.amount > 900.0' }],
  ])('is still valid where %s', async (_, world) => {
    const before = { ...first, ...world };
    expect(
      await release(before, { ...before, now: 90_000, ran: [earlier], mode: 'closed' }),
    ).toMatchObject({ isRuled: true, again: { kind: 'allow', records: [], facts: [] } });
  });

  const denies = (deniedWhen: string) => ({ deniedWhen });
  const isLate = 'now > timestamp("1970-01-01T00:01:00Z")';
  it.each<[string, Partial<World>, Partial<World>, string]>([
    ['the policy', {}, { policySha256: 'b2'.repeat(32), deniedWhen: 'tool == "pay"' }, 'deny'],
    ['the tool, which is gone', {}, { most: null }, 'misfit'],
    ['the schema of the tool', {}, { most: 100 }, 'misfit'],
    ['the description of the tool', {}, { description: 'Pays twice.' }, 'deny'],
    ['the code of the tool', { identity: 'one' }, { identity: 'two' }, 'deny'],
    ['the program that runs the tool', {}, { isElsewhere: true }, 'misfit'],
    ['the credentials', {}, { credential: 'two' }, 'deny'],
    ['the time', denies(isLate), { now: 90_000 }, 'deny'],
    ['the session', denies('history.count("pay") > 0'), { ran: [earlier] }, 'deny'],
    ['the environment', denies('environment.MODE == "closed"'), { mode: 'closed' }, 'deny'],
    ['the view of the caller', { view: 'of the caller' }, { view: 'of others' }, 'misfit'],
  ])('ends with a change of %s', async (_, world, change, kind) => {
    const before = { ...first, ...world };
    expect(await release(before, { ...before, ...change })).toMatchObject({
      ...{ isRuled: false, again: { kind } },
    });
  });

  it('ends with a change of the schema, also of a call whose program states what runs', async () => {
    const stated = 'c3'.repeat(32);
    const before = { ...first, isElsewhere: true };
    expect(await release(before, before, stated)).toMatchObject({ isRuled: true });
    expect(await release(before, { ...before, most: 100 }, stated)).toMatchObject({
      ...{ isRuled: false, again: { kind: 'misfit' } },
    });
  });

  it('ends where a rule reports what it would have decided', async () => {
    const before = { ...first, deniedWhen: 'args.amount > 100.0', isShadow: true };
    expect(await release(before, before)).toMatchObject({
      ...{ isRuled: false, again: { facts: [{ type: 'rule.shadowed' }] } },
    });
  });

  it('is still valid at a start also for a tool whose code must be read', async () => {
    const before = { ...first, identity: 'one' };
    expect([
      await release(before, before),
      await release(before, { ...before, identity: 'two' }),
      await wouldRuleAgain('no JSON', inForce(first)),
    ]).toMatchObject([
      { isRuled: false, wouldBe: true, again: { kind: 'allow' } },
      { isRuled: false, wouldBe: false, again: { kind: 'deny' } },
      false,
    ]);
  });

  it('is none of another call, or of none', async () => {
    const released = await release(first, first);
    if (released?.held.kind !== 'defer') throw new Error('the call is not held');
    const { call, deferral } = released.held;
    const isElsewhere = false;
    const world = inForce(first);
    expect([
      stillRuled({ call, deferral, isElsewhere }, world),
      stillRuled({ call: undefined, deferral, isElsewhere }, world),
      stillRuled({ call, deferral: null, isElsewhere }, world),
      stillRuled({ call: { ...call, id: 'another' }, deferral, isElsewhere }, world),
      stillRuled({ call: { ...call, argsSha256: '' }, deferral, isElsewhere }, world),
    ]).toEqual([true, false, false, false, false]);
  });
});
