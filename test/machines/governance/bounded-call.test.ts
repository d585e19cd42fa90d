import { describe, expect, it } from 'vitest';
import { assign, createActor, fromPromise, toPromise } from 'xstate';
import type {
  FirstEffect,
  LedgerEntry,
  MeasuredLimit,
} from '../../../src/machines/domain/ledger.ts';
import type { Bounds, Measured, MeasureInput } from '../../../src/machines/governance/bounds.ts';
import type { Ruling, ToolRules } from '../../../src/machines/governance/ruling.ts';
import { toolCallMachine } from '../../../src/machines/governance/tool-call-machine.ts';
import type {
  MeasuredCall,
  ToolCallInput,
} from '../../../src/machines/governance/tool-call-setup.ts';
import {
  aCall,
  aCaller,
  aDeferRule,
  aDeferral,
  aTaskInput,
  runsDigest,
  times,
  toolRules,
} from '../../helpers/task-fixtures.ts';

const financeRule = aDeferRule({ to: ['channel:console:finance'], approvers: ['fin@example.com'] });

const aDay = { calendar: 'day', zone: 'Europe/Berlin' } as const;

function someBounds(change: Partial<Bounds['limits'][number]> = {}): Bounds {
  const limit = { name: 'refunds', key: '{}', by: {}, period: aDay, max: '5000', amount: '200' };
  return { limits: [{ ...limit, over: financeRule, ...change }], effect: null };
}

function standing(isOver: boolean): MeasuredLimit {
  const used = isOver ? '4900' : '100';
  const counted = {
    name: 'refunds',
    key: '{}',
    by: {},
    period: aDay,
    max: '5000',
    used,
    reserved: '0',
  };
  return { ...counted, amount: '200', isOver };
}

const entries: LedgerEntry[] = [
  { kind: 'limit', name: 'refunds', key: '{}', amount: '200', until: times.thought + 1_000 },
];

const free: Measured = { limits: [standing(false)], first: null, reserved: entries };
const full: Measured = { limits: [standing(true)], first: null, reserved: null };

const first: FirstEffect = {
  key: 'refund:A-2001',
  ...{ callId: 'call-0', taskId: 'task-0', argsSha256: 'f'.repeat(64), requester: null },
  ...{ at: times.thought - 1_000, approver: 'ann@example.com', outcome: 'succeeded' },
};

const repeated: Measured = { limits: [], first, reserved: null };

function effectOnly(repeat: 'ask' | 'deny' | 'join'): Bounds {
  const effect = { name: 'issue_refund', key: first.key, within: null, over: financeRule };
  return { limits: [], effect: { ...effect, repeat } };
}

/** Rules on a call; `answers` are those of the ledger, in order. */
async function ruleOn(
  rules: Partial<ToolRules>,
  answers: readonly (Measured | Error)[],
  input: Partial<ToolCallInput> = {},
): Promise<{ ruling: Ruling; asked: MeasureInput[] }> {
  const asked: MeasureInput[] = [];
  const measure = fromPromise<MeasuredCall, MeasureInput>(async ({ input: one }) => {
    const answer = answers[asked.length];
    asked.push(one);
    if (answer === undefined || answer instanceof Error) throw answer ?? new Error('asked again');
    return { ...answer, heldAs: 'call-2' };
  });
  const machine = toolCallMachine.provide({
    actions: {
      consultPolicy: assign({ rules: { ...toolRules({ modifies: false, ...rules }), took: 0 } }),
      showCall: assign(({ context }) => ({
        presented: { ...context.presented, shown: context.call.args },
      })),
    },
    actors: { measure, identify: fromPromise(async () => runsDigest) },
  });
  const call = { taskId: 'task-1', call: aCall(), request: aTaskInput().request, scores: [] };
  const actor = createActor(machine, {
    input: { ...call, requester: aCaller(), now: times.thought, ...input },
  });
  return { ruling: await toPromise(actor.start()), asked };
}

const released = (seen: Partial<Parameters<typeof aDeferral>[0]> = {}) => ({
  held: {
    deferral: aDeferral({
      runsSha256: runsDigest,
      approvals: [{ approver: 'ann@example.com', at: times.decided }],
      ...seen,
    }),
    isReleased: true,
  },
});

describe('a call with limits that no rule holds', () => {
  it('is reserved and runs', async () => {
    const { ruling, asked } = await ruleOn({ bounds: someBounds() }, [free]);
    expect(ruling).toMatchObject({ kind: 'allow', call: { reserved: entries } });
    expect(asked.map(({ reserves, seen }) => ({ reserves, seen }))).toEqual([
      { reserves: true, seen: null },
    ]);
    expect(ruling.facts.map(({ type }) => type)).toEqual(['limit.reserved', 'call.ruled']);
  });

  it('is held by the rule of the limit when it would exceed it, and shows the limit', async () => {
    const { ruling, asked } = await ruleOn({ bounds: someBounds() }, [full]);
    expect(ruling).toMatchObject({
      kind: 'defer',
      deferral: {
        targets: ['channel:console:finance'],
        approvers: ['fin@example.com'],
        limits: [standing(true)],
      },
    });
    expect(asked).toHaveLength(1);
    expect(ruling.records.at(-1)).toMatchObject({ decision: 'defer', rule: 'limits.refunds' });
    expect(ruling.facts).toMatchObject([
      { type: 'limit.reached', limit: standing(true), decision: 'defer' },
      { type: 'call.ruled' },
      { type: 'deferral.opened' },
    ]);
  });

  it('is denied by a limit that denies', async () => {
    const { ruling } = await ruleOn({ bounds: someBounds({ over: null }) }, [full]);
    expect(ruling).toMatchObject({
      kind: 'deny',
      text: 'denied by the limit refunds: the call would exceed its maximum of 5000',
    });
    expect(ruling.facts[0]).toEqual({
      type: 'limit.reached',
      call: { callId: aCall().id, argsSha256: aCall().argsSha256 },
      tool: aCall().tool,
      limit: standing(true),
      decision: 'deny',
    });
  });

  it('runs over a limit in shadow, and the log has what the limit would have decided', async () => {
    const over: Measured = { ...full, reserved: entries };
    const { ruling } = await ruleOn({ bounds: someBounds({ isShadow: true }) }, [over]);
    expect(ruling.kind).toBe('allow');
    expect(ruling.facts[0]).toEqual({
      ...{ type: 'rule.shadowed', tool: aCall().tool, rule: 'limits.refunds', would: 'defer' },
    });
  });

  it('is denied when the ledger cannot be read', async () => {
    const { ruling } = await ruleOn({ bounds: someBounds() }, [new Error('disk')]);
    expect(ruling).toMatchObject({ kind: 'deny', layer: 'defer' });
  });
});

describe('a call with limits that a rule holds', () => {
  it('is measured without a reservation before people are asked', async () => {
    const measured = { ...free, reserved: null };
    const { ruling, asked } = await ruleOn({ defer: aDeferRule(), bounds: someBounds() }, [
      measured,
    ]);
    expect(ruling).toMatchObject({ kind: 'defer', deferral: { limits: [standing(false)] } });
    expect(asked.map(({ reserves }) => reserves)).toEqual([false]);
  });

  it('must satisfy the rule of the tool and that of the exceeded limit', async () => {
    const defer = aDeferRule({ approvers: ['ann@example.com', 'fin@example.com'], quorum: 2 });
    const { ruling } = await ruleOn({ defer, bounds: someBounds() }, [full]);
    expect(ruling).toMatchObject({
      kind: 'defer',
      deferral: { approvers: ['fin@example.com'], quorum: 2, targets: ['channel:console:finance'] },
    });
  });

  it('is reserved at its release', async () => {
    const rules = { defer: aDeferRule(), bounds: someBounds() };
    const { ruling, asked } = await ruleOn(rules, [free], released());
    expect(ruling).toMatchObject({ kind: 'allow', call: { reserved: entries } });
    expect(asked[0]).toMatchObject({ reserves: true, seen: { limits: [], first: null } });
  });

  it('is asked again as another call if its approver did not see that the limit is reached', async () => {
    const rules = { defer: aDeferRule(), bounds: someBounds() };
    const { ruling } = await ruleOn(rules, [full], released());
    expect(ruling).toMatchObject({
      kind: 'defer',
      call: { id: 'call-2' },
      deferral: { id: 'call-2', approvals: [], limits: [standing(true)] },
    });
  });

  it('names to the ledger what its approver saw', async () => {
    const rules = { defer: aDeferRule(), bounds: someBounds() };
    const approvals = [{ approver: 'fin@example.com', at: times.decided }];
    const seen = released({ limits: [standing(true)], first, approvals });
    const { ruling, asked } = await ruleOn(rules, [{ ...full, reserved: entries }], seen);
    expect(ruling.kind).toBe('allow');
    expect(asked[0]?.seen).toEqual({ limits: ['["refunds","{}","5000"]'], first: 'call-0' });
    expect(ruling.facts[0]).toMatchObject({ type: 'limit.reserved', over: ['refunds'] });
  });

  it('names nothing as seen if the limit in force demands other approvals, and is held again', async () => {
    const effect = { ...effectOnly('ask').effect, over: { ...financeRule, quorum: 2 } };
    const demanding: [Partial<ToolRules>, string][] = [
      [{ bounds: someBounds() }, 'ann@example.com'],
      [{ bounds: someBounds({ over: { ...financeRule, quorum: 2 } }) }, 'fin@example.com'],
      [{ bounds: { limits: [], effect } as Bounds }, 'fin@example.com'],
    ];
    for (const [rules, approver] of demanding) {
      const approvals = [{ approver, at: times.decided }];
      const seen = released({ limits: [standing(true)], first, approvals });
      const { ruling, asked } = await ruleOn(rules, [{ ...full, first }], seen);
      expect(asked.map((one) => one.seen)).toEqual([{ limits: [], first: null }]);
      expect(ruling).toMatchObject({
        kind: 'defer',
        deferral: { approvers: ['fin@example.com'], approvals: [] },
      });
    }
  });

  it('is held for approvers of each limit that it exceeds, and for those of its tool only if they are such', async () => {
    const [one] = someBounds().limits;
    const held = async (approvers: string[]) => {
      const other = { ...one, name: 'z', over: { ...financeRule, approvers } };
      const measured = { ...full, limits: [standing(true), { ...standing(true), name: 'z' }] };
      const bounds = { limits: [one, other], effect: null } as Bounds;
      const defer = aDeferRule({ approvers: ['bo@example.com'] });
      const { ruling } = await ruleOn({ defer, bounds }, [measured]);
      return ruling.kind === 'defer' ? ruling.deferral.approvers : ruling;
    };
    expect(await held(['fin@example.com', 'ann@example.com'])).toEqual(['fin@example.com']);
    expect(await held(['ann@example.com'])).toEqual([]);
  });

  describe('whose tool has other approvers than the limit', () => {
    const ops = aDeferRule({ approvers: ['ops@example.com'] });
    const by = (approver: string) => [{ approver, at: times.decided }];
    const held = { limits: [standing(true)], approvers: ['fin@example.com'] };

    it('is held for those of the limit, and runs if one of them released it', async () => {
      const rules = { defer: ops, bounds: someBounds() };
      const { ruling: asking } = await ruleOn(rules, [full]);
      expect(asking).toMatchObject({ deferral: { approvers: ['fin@example.com'], quorum: 1 } });
      const seen = released({ ...held, approvals: by('fin@example.com') });
      const { ruling } = await ruleOn(rules, [{ ...full, reserved: entries }], seen);
      expect(ruling).toMatchObject({ kind: 'allow', call: { reserved: entries } });
    });

    it.each([
      [
        'a larger quorum',
        { defer: { ...ops, quorum: 2 }, bounds: someBounds() },
        'fin@example.com',
      ],
      ['no limit', { defer: ops }, 'fin@example.com'],
      [
        'a limit in shadow',
        { defer: ops, bounds: someBounds({ isShadow: true }) },
        'fin@example.com',
      ],
    ])('is denied at its release under %s', async (_, rules, approver) => {
      const seen = released({ ...held, approvals: by(approver) });
      const { ruling } = await ruleOn(rules, [{ ...full, reserved: entries }], seen);
      expect(ruling).toMatchObject({ kind: 'deny', layer: 'defer' });
    });

    it('is asked again of those of the limit if its approver did not see that the limit is reached', async () => {
      const approvals = by('ops@example.com');
      const seen = released({ approvers: ['ops@example.com'], approvals });
      const { ruling } = await ruleOn({ defer: ops, bounds: someBounds() }, [full], seen);
      expect(ruling).toMatchObject({
        kind: 'defer',
        deferral: { approvers: ['fin@example.com'], approvals: [] },
      });
    });
  });

  it('is denied at its release by a limit that denies', async () => {
    const rules = { defer: aDeferRule(), bounds: someBounds({ over: null }) };
    const { ruling } = await ruleOn(rules, [full], released({ limits: [standing(true)] }));
    expect(ruling).toMatchObject({ kind: 'deny', layer: 'defer' });
  });
});

describe('a call with the effect of an earlier call', () => {
  it('is held, and its approver sees the earlier call', async () => {
    const { ruling } = await ruleOn({ bounds: effectOnly('ask') }, [repeated]);
    expect(ruling).toMatchObject({ kind: 'defer', deferral: { first } });
    expect(ruling.records.at(-1)?.rule).toBe('effects.issue_refund');
  });

  it('is denied with the name of the earlier call', async () => {
    const { ruling } = await ruleOn({ bounds: effectOnly('deny') }, [repeated]);
    expect(ruling).toMatchObject({
      kind: 'deny',
      text: 'denied as a repeat: call call-0 of task task-0 has the same effect refund:A-2001, and its outcome is succeeded',
    });
  });

  const joinable = { ...first, argsSha256: aCall().argsSha256, result: 'paid' };

  it('receives the result of the earlier call of the same caller, and does not run', async () => {
    const { provider, userId } = aCaller();
    const measured = { ...repeated, first: { ...joinable, requester: { provider, userId } } };
    const { ruling, asked } = await ruleOn({ bounds: effectOnly('join') }, [measured]);
    expect(ruling).toMatchObject({ kind: 'joined', result: 'paid' });
    expect(ruling.records.at(-1)).toMatchObject({ decision: 'deny', rule: 'effects.issue_refund' });
    expect(asked[0]?.joins).toBe(true);
  });

  it.each([
    ['of another caller', joinable, {}],
    ['of a program that runs its calls itself', joinable, { surface: 'hold' }],
  ])('is held instead of joined if it is %s', async (_, earlier, task) => {
    const { provider, userId } = aCaller();
    const isOwn = 'surface' in task;
    const requester = { provider, userId: isOwn ? userId : 'eve' };
    const measured = { ...repeated, first: { ...earlier, requester } };
    const input = { task: { surface: 'legacy', session: '', tags: {}, ...task } };
    const { ruling } = await ruleOn({ bounds: effectOnly('join') }, [measured], input);
    expect(ruling.kind).toBe('defer');
  });
});
