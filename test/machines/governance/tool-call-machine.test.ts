import { describe, expect, it } from 'vitest';
import { assign, createActor, fromPromise, toPromise } from 'xstate';
import type { TaskFact } from '../../../src/machines/domain/facts.ts';
import type { Refusal } from '../../../src/machines/domain/finding.ts';
import type { UsedGrant } from '../../../src/machines/domain/grant.ts';
import type {
  DecisionRecord,
  Deferral,
  RanCall,
  ToolCall,
} from '../../../src/machines/domain/task.ts';
import { editorsOf } from '../../../src/machines/governance/decision.ts';
import type { DeferRule } from '../../../src/machines/governance/defer-policy.ts';
import type {
  IntentVerdict,
  Modification,
  Ruling,
  Timed,
  ToolRules,
} from '../../../src/machines/governance/ruling.ts';
import { toolCallMachine } from '../../../src/machines/governance/tool-call-machine.ts';
import type {
  IdentifyInput,
  JudgeIntentInput,
  RedeemInput,
  ToolCallInput,
} from '../../../src/machines/governance/tool-call-setup.ts';
import {
  aCall,
  aCaller,
  aDeferRule,
  aDeferral,
  anEdit,
  aProposedEdit,
  aRefusal,
  aTaskInput,
  digest,
  runsDigest,
  times,
  toolRules,
} from '../../helpers/task-fixtures.ts';

const { request } = aTaskInput();

/** Rules by which every layer has something to object to. */
const strictest = toolRules({
  refusal: aRefusal(),
  judgesIntent: true,
  requiredAcr: 'gold',
  defer: aDeferRule(),
  credential: 'static',
});

function toolCallInput(input: Partial<ToolCallInput> = {}): ToolCallInput {
  const requester = aCaller({ acr: 'gold' });
  return {
    taskId: 'task-1',
    call: aCall(),
    request,
    requester,
    scores: [],
    now: times.thought,
    ...input,
  };
}

/** What the ports answer; each is noted in `asked` when it is asked. */
interface Ports {
  modification?: Modification;
  verdict?: IntentVerdict | Error;
  runs?: string | Error;
  grant?: UsedGrant | null | Error;
  /** The milliseconds of each; none when omitted. */
  took?: { policy: number; judge: number; modify: number };
}

function ruleWith(ports: Ports, rules: Partial<ToolRules>, input: Partial<ToolCallInput> = {}) {
  const took = { policy: 0, judge: 0, modify: 0, ...ports.took };
  const asked: string[] = [];
  const judged: JudgeIntentInput[] = [];
  const logic = toolCallMachine.provide({
    actions: {
      consultPolicy: assign(() => ({ rules: { ...toolRules(rules), took: took.policy } })),
      modifyCall: assign(() => {
        asked.push('modify');
        const modification = ports.modification ?? ({ kind: 'unchanged' } as const);
        return { modification: { ...modification, took: took.modify } };
      }),
    },
    actors: {
      judgeIntent: fromPromise<Timed<IntentVerdict>, JudgeIntentInput>(
        async ({ input: question }) => {
          asked.push('judge');
          judged.push(question);
          if (ports.verdict instanceof Error) throw ports.verdict;
          return { ...(ports.verdict ?? fits), took: took.judge };
        },
      ),
      identify: fromPromise<string, IdentifyInput>(async () => {
        if (ports.runs instanceof Error) throw ports.runs;
        return ports.runs ?? runsDigest;
      }),
      redeem: fromPromise<UsedGrant | null, RedeemInput>(
        async ({ input: { rule: of, runsSha256 } }) => {
          asked.push(`redeem ${of.to.join()} ${runsSha256}`);
          if (ports.grant instanceof Error) throw ports.grant;
          return ports.grant ?? null;
        },
      ),
    },
  });
  const actor = createActor(logic, { input: toolCallInput(input) }).start();
  return { ruling: toPromise(actor), asked, judged, actor };
}

function rule(rules: Partial<ToolRules>, input: Partial<ToolCallInput> = {}): Ruling {
  const ruling = ruleWith({}, rules, input).actor.getSnapshot().output;
  if (ruling === undefined) throw new Error('nothing was ruled at once');
  return ruling;
}

const fits: IntentVerdict = { decision: 'allow', score: 0.8, reason: 'score 0.80 is fine' };
const misfit: IntentVerdict = { decision: 'deny', score: 0.1, reason: 'score 0.10 is below' };

function record(
  layer: DecisionRecord['layer'],
  decision: DecisionRecord['decision'],
  reason: string,
): DecisionRecord {
  return { callId: 'call-1', tool: 'issue_refund', layer, decision, reason, duration: 0 };
}

/** What is reported of the ruling on the call. */
function ruledFact(
  layer: DecisionRecord['layer'],
  decision: DecisionRecord['decision'],
  reason: string,
  { id: callId, argsSha256 }: Pick<ToolCall, 'id' | 'argsSha256'> = aCall(),
): TaskFact {
  const tool = 'issue_refund';
  return {
    type: 'call.ruled',
    call: { callId, argsSha256 },
    tool,
    decision,
    layer,
    reason,
  };
}

const permitted = record('alignment', 'allow', 'no rule denies it');
const sufficient = record('assurance', 'allow', 'acr is sufficient');
const unneeded = record('assurance', 'allow', 'no assurance level is required');
const unmodified = record('modify', 'allow', 'no rule rewrites it');
const undeferred = record('defer', 'allow', 'no approval is required');

const free = ruledFact('defer', 'allow', 'no approval is required');

const refused = {
  type: 'rule.matched',
  gate: 'deny_commands',
  decision: 'deny',
  tool: 'issue_refund',
  rule: 'deny_commands[0]',
} as const;

describe('the order of governance', () => {
  it('refuses an impossible call before any other check', () => {
    const { actor, asked } = ruleWith({}, strictest, { requester: null });
    expect(actor.getSnapshot().output).toEqual({
      kind: 'deny',
      layer: 'alignment',
      text: 'denied by guardrail: refunds',
      records: [record('alignment', 'deny', 'denied by guardrail: refunds')],
      facts: [refused, ruledFact('alignment', 'deny', 'denied by guardrail: refunds')],
      score: null,
    });
    expect(asked).toEqual([]);
  });

  it('refuses a call that cannot run as requested before any other check', () => {
    const refusal: Refusal = {
      text: 'unknown tool: issue_refund',
      findings: [{ gate: 'tool', decision: 'deny', rule: 'unknown tool' }],
      isMisfit: true,
    };
    const took = { policy: 0.5, judge: 1, modify: 2 };
    const { actor, asked } = ruleWith({ took }, { ...strictest, refusal }, { requester: null });
    expect(actor.getSnapshot().output).toEqual({
      kind: 'misfit',
      layer: 'alignment',
      text: 'unknown tool: issue_refund',
      records: [{ ...record('alignment', 'deny', 'unknown tool: issue_refund'), duration: 0.5 }],
      facts: [
        { ...refused, gate: 'tool', rule: 'unknown tool' },
        ruledFact('alignment', 'deny', 'unknown tool: issue_refund'),
      ],
      score: null,
    });
    expect(asked).toEqual([]);
  });

  it('denies a call with invalid arguments before it checks the caller', async () => {
    const rules = { ...strictest, refusal: null };
    const { ruling, asked } = ruleWith({ verdict: misfit }, rules, { requester: null });
    const text = 'denied by intent alignment: score 0.10 is below';
    expect(await ruling).toEqual({
      kind: 'deny',
      layer: 'alignment',
      text,
      records: [record('alignment', 'deny', text)],
      facts: [
        { type: 'intent.judged', tool: 'issue_refund', ...misfit },
        ruledFact('alignment', 'deny', text),
      ],
      score: 0.1,
    });
    expect(asked).toEqual(['judge']);
  });

  it('requires a step-up before MODIFY and before the approval', async () => {
    const rules = { ...strictest, refusal: null };
    const { ruling, asked } = ruleWith({}, rules, { requester: null });
    expect(await ruling).toEqual({
      kind: 'stepUp',
      requiredAcr: 'gold',
      text: 'no verified identity',
      records: [
        record('alignment', 'allow', 'score 0.80 is fine'),
        record('assurance', 'step_up', 'no verified identity'),
      ],
      facts: [
        { type: 'intent.judged', tool: 'issue_refund', ...fits },
        {
          type: 'stepUp.required',
          tool: 'issue_refund',
          requiredAcr: 'gold',
          presentedAcr: null,
          reason: 'no verified identity',
        },
        ruledFact('assurance', 'step_up', 'no verified identity'),
      ],
      score: 0.8,
    });
    expect(asked).toEqual(['judge']);
  });

  it('denies a call that MODIFY cannot repair before the approval', () => {
    const modification = { kind: 'refused', refusal: aRefusal('no longer fits') } as const;
    const rules = { ...strictest, refusal: null, judgesIntent: false };
    expect(ruleWith({ modification }, rules).actor.getSnapshot().output).toEqual({
      kind: 'deny',
      layer: 'modify',
      text: 'no longer fits',
      records: [permitted, sufficient, record('modify', 'deny', 'no longer fits')],
      facts: [refused, ruledFact('modify', 'deny', 'no longer fits')],
      score: null,
    });
  });

  it('defers the call as MODIFY returned it, bound to the arguments that would run', async () => {
    const call = aCall({ args: { order: 8 }, argsSha256: 'b2'.repeat(32) });
    const changes = [{ path: 'order', before: '7', after: '8' }];
    const modification: Modification = { kind: 'modified', call, rules: [1, 3], changes };
    const rules = { ...strictest, refusal: null, judgesIntent: false };
    const deferral = aDeferral({
      args: { order: 8 },
      argsSha256: 'b2'.repeat(32),
      context: 'tool=issue_refund args={"order":8}',
      shown: { order: 8 },
      runsSha256: runsDigest,
    });
    expect(await ruleWith({ modification }, rules).ruling).toEqual({
      kind: 'defer',
      call,
      deferral,
      credential: 'static',
      records: [
        permitted,
        sufficient,
        { ...record('modify', 'modify', 'rewritten by rules 1, 3'), changes },
        record('defer', 'defer', 'awaiting channel:slack:#refunds'),
      ],
      facts: [
        { type: 'call.modified', tool: 'issue_refund', part: 'arguments', rules: [1, 3] },
        ruledFact('defer', 'defer', 'awaiting channel:slack:#refunds', call),
        { type: 'deferral.opened', deferral, requester: aCaller({ acr: 'gold' }) },
      ],
      score: null,
    });
  });

  it.each([
    [[2], 'rewritten by rule 2'],
    [[1, 3], 'rewritten by rules 1, 3'],
  ])('records the rules %j that rewrote the call', (numbers, reason) => {
    const modification: Modification = {
      kind: 'modified',
      call: aCall(),
      rules: numbers,
      changes: [],
    };
    expect(ruleWith({ modification }, {}).actor.getSnapshot().output?.records).toEqual([
      permitted,
      unneeded,
      { ...record('modify', 'modify', reason), changes: [] },
      undeferred,
    ]);
  });

  it('allows a call to which no layer objects, with a record of each layer', () => {
    expect(rule({ requiredAcr: 'gold', credential: 'sts_assume_role' })).toEqual({
      kind: 'allow',
      call: aCall(),
      credential: 'sts_assume_role',
      records: [permitted, sufficient, unmodified, undeferred],
      facts: [free],
      score: null,
    });
  });

  it('allows a call without configured layers', () => {
    expect(rule({}, { requester: null })).toEqual({
      kind: 'allow',
      call: aCall(),
      credential: null,
      records: [permitted, unneeded, unmodified, undeferred],
      facts: [free],
      score: null,
    });
  });
});

describe('intent alignment', () => {
  it('receives the call and the message that it should serve', async () => {
    const { ruling, judged } = ruleWith({}, { judgesIntent: true });
    await ruling;
    expect(judged).toEqual([{ taskId: 'task-1', call: aCall(), request }]);
  });

  it('allows a call that it warns about', async () => {
    const verdict = { decision: 'warn', score: 0.4, reason: 'score 0.40 is low' } as const;
    expect(await ruleWith({ verdict }, { judgesIntent: true }).ruling).toMatchObject({
      kind: 'allow',
      records: [record('alignment', 'allow', 'score 0.40 is low'), {}, {}, {}],
      facts: [{ type: 'intent.judged', tool: 'issue_refund', ...verdict }, free],
      score: 0.4,
    });
  });

  it('reports a drift without a decision', async () => {
    const drift = { window: 2, driftThreshold: 0.5, monotoneN: 2 };
    const verdict = { decision: 'warn', score: 0.4, reason: 'low' } as const;
    const rules = { judgesIntent: true, drift };
    expect(await ruleWith({ verdict }, rules, { scores: [0.9, 0.5] }).ruling).toMatchObject({
      kind: 'allow',
      facts: [
        { type: 'intent.judged' },
        {
          type: 'intent.drifted',
          tool: 'issue_refund',
          reason: 'the mean of the last 2 scores is 0.45, below the drift threshold 0.50',
        },
        free,
      ],
    });
    const steady = await ruleWith({ verdict: fits }, rules, { scores: [0.7] }).ruling;
    expect(steady.facts).toEqual([{ type: 'intent.judged', tool: 'issue_refund', ...fits }, free]);
  });

  it('reports no drift for a call without a score', async () => {
    const drift = { window: 2, driftThreshold: 0.5, monotoneN: 2 };
    const verdict = { decision: 'warn', score: null, reason: 'no score' } as const;
    const rules = { judgesIntent: true, drift };
    const { facts, score } = await ruleWith({ verdict }, rules, { scores: [0.9, 0.5] }).ruling;
    expect({ facts, score }).toEqual({
      facts: [{ type: 'intent.judged', tool: 'issue_refund', ...verdict }, free],
      score: null,
    });
  });

  it('denies the call when it throws', async () => {
    const text = 'governance failed: intent alignment broke';
    const { ruling, asked } = ruleWith({ verdict: new Error('lost') }, { judgesIntent: true });
    expect(await ruling).toEqual({
      kind: 'deny',
      layer: 'alignment',
      text,
      records: [record('alignment', 'deny', text)],
      facts: [
        {
          type: 'rule.matched',
          gate: 'governance',
          decision: 'deny',
          tool: 'issue_refund',
          rule: 'intent alignment broke',
        },
        ruledFact('alignment', 'deny', text),
      ],
      score: null,
    });
    expect(asked).toEqual(['judge']);
  });
});

describe('step-up', () => {
  const hierarchy = ['bronze', 'silver', 'gold'];
  it.each([
    ['no identity', null, [], 'no verified identity'],
    ['an identity without a level', aCaller(), [], 'no acr claim presented'],
    ['an identity with an empty level', aCaller({ acr: '' }), [], 'no acr claim presented'],
    ['another level', aCaller({ acr: 'gold' }), [], 'acr "gold" does not satisfy "silver"'],
    [
      'a lower level',
      aCaller({ acr: 'bronze' }),
      hierarchy,
      'acr "bronze" does not satisfy "silver"',
    ],
    ['an unknown level', aCaller({ acr: 'tin' }), hierarchy, 'acr "tin" does not satisfy "silver"'],
  ])('challenges %s', (_, requester, acrHierarchy, reason) => {
    expect(rule({ requiredAcr: 'silver', acrHierarchy }, { requester })).toEqual({
      kind: 'stepUp',
      requiredAcr: 'silver',
      text: reason,
      records: [permitted, record('assurance', 'step_up', reason)],
      facts: [
        {
          type: 'stepUp.required',
          tool: 'issue_refund',
          requiredAcr: 'silver',
          presentedAcr: requester?.acr ?? null,
          reason,
        },
        ruledFact('assurance', 'step_up', reason),
      ],
      score: null,
    });
  });

  it.each([
    ['the same level', 'silver', []],
    ['the same level of a hierarchy', 'silver', hierarchy],
    ['a higher level of a hierarchy', 'gold', hierarchy],
  ])('passes %s', (_, acr, acrHierarchy) => {
    const requester = aCaller({ acr });
    expect(rule({ requiredAcr: 'silver', acrHierarchy }, { requester }).kind).toBe('allow');
  });

  it('judges each call by its own identity', () => {
    const requester = aCaller({ acr: 'gold' });
    expect(rule({ requiredAcr: 'gold' }, { requester }).kind).toBe('allow');
    expect(rule({ requiredAcr: 'gold' }, { requester: aCaller() }).kind).toBe('stepUp');
  });
});

describe('a deferral', () => {
  it('takes every parameter of its rule and counts from the end of the last effect', async () => {
    const defer = aDeferRule({
      to: ['channel:console:ops', 'channel:slack:#refunds'],
      timeout: 1_000,
      contextTemplate: '{tool}!',
      approvers: ['ann@example.com'],
      quorum: 2,
      fourEyes: true,
      bindApprover: true,
      onReject: 'tool_result',
      remind: true,
      escalateTo: 'channel:console:managers',
    });
    expect(await ruleWith({}, { defer }, { now: 5_000 }).ruling).toMatchObject({
      deferral: aDeferral({
        to: 'channel:console:ops, channel:slack:#refunds',
        targets: ['channel:console:ops', 'channel:slack:#refunds'],
        timeout: 1_000,
        context: 'issue_refund!',
        approvers: ['ann@example.com'],
        quorum: 2,
        fourEyes: true,
        bindApprover: true,
        onReject: 'tool_result',
        requestedAt: 5_000,
        remindAt: 5_500,
        escalateAt: 5_750,
        escalateTo: 'channel:console:managers',
        expiresAt: 6_000,
      }),
    });
  });
});

describe('a missing port denies each call', () => {
  const denial = (layer: DecisionRecord['layer'], what: string, before: DecisionRecord[]) => {
    const text = `governance failed: ${what}`;
    return {
      kind: 'deny',
      layer,
      text,
      records: [...before, record(layer, 'deny', text)],
      facts: [{ ...refused, gate: 'governance', rule: what }, ruledFact(layer, 'deny', text)],
      score: null,
    };
  };

  it('for the policy', () => {
    const actor = createActor(toolCallMachine, { input: toolCallInput() }).start();
    expect(actor.getSnapshot().output).toEqual(
      denial('alignment', 'the policy was not consulted', []),
    );
  });

  it('for MODIFY', () => {
    const logic = toolCallMachine.provide({
      actions: { consultPolicy: assign(() => ({ rules: { ...toolRules(), took: 0 } })) },
    });
    const actor = createActor(logic, { input: toolCallInput() }).start();
    expect(actor.getSnapshot().output).toEqual(
      denial('modify', 'MODIFY was not consulted', [permitted, unneeded]),
    );
  });

  it('for intent alignment', async () => {
    const logic = toolCallMachine.provide({
      actions: {
        consultPolicy: assign(() => ({ rules: { ...toolRules({ judgesIntent: true }), took: 0 } })),
      },
    });
    const errors: unknown[] = [];
    const actor = createActor(logic, {
      input: toolCallInput(),
      inspect(inspected) {
        if (inspected.type === '@xstate.event' && 'error' in inspected.event) {
          errors.push(inspected.event.error);
        }
      },
    }).start();
    expect(await toPromise(actor)).toEqual(denial('alignment', 'intent alignment broke', []));
    expect(errors).toEqual([new Error('the port is not filled')]);
  });

  it('a broken action ends without a ruling', () => {
    const logic = toolCallMachine.provide({
      actions: {
        consultPolicy: assign(() => {
          throw new Error('the layer broke');
        }),
      },
    });
    const actor = createActor(logic, { input: toolCallInput() });
    actor.subscribe({ error: () => undefined });
    actor.start();
    expect(actor.getSnapshot()).toMatchObject({
      status: 'error',
      output: undefined,
      error: new Error('the layer broke'),
    });
  });
});

describe('a port of another program', () => {
  type Parts = Parameters<typeof toolCallMachine.provide>[0];

  /** Rules on a call without an obstacle, by the chart with these parts. */
  function ruleBy({ actions, guards }: Parts) {
    const logic = toolCallMachine.provide({
      actors: { identify: fromPromise<string, IdentifyInput>(async () => runsDigest) },
      actions: {
        consultPolicy: assign(() => ({ rules: { ...toolRules(), took: 0 } })),
        modifyCall: assign(() => ({ modification: { kind: 'unchanged', took: 0 } as const })),
        ...actions,
      },
      guards: { ...guards },
    });
    const actor = createActor(logic, { input: toolCallInput() });
    actor.subscribe({ error: () => undefined });
    return actor.start();
  }

  const unexplained = 'governance failed';
  const unmet = 'acr "gold" does not satisfy ""';
  const saying = (...facts: TaskFact[]) => ({ facts, score: null });
  it.each<[string, Parts, Ruling]>([
    [
      'refuses an impossible call without a reason',
      { guards: { isMisfit: () => true } },
      {
        kind: 'misfit',
        layer: 'alignment',
        text: unexplained,
        records: [record('alignment', 'deny', unexplained)],
        ...saying(ruledFact('alignment', 'deny', unexplained)),
      },
    ],
    [
      'refuses a call without a reason',
      { guards: { isRefused: () => true } },
      {
        kind: 'deny',
        layer: 'alignment',
        text: unexplained,
        records: [record('alignment', 'deny', unexplained)],
        ...saying(ruledFact('alignment', 'deny', unexplained)),
      },
    ],
    [
      'requires a step-up without a level',
      { guards: { lacksAssurance: () => true } },
      {
        kind: 'stepUp',
        requiredAcr: '',
        text: unmet,
        records: [permitted, record('assurance', 'step_up', unmet)],
        facts: [
          {
            type: 'stepUp.required',
            tool: 'issue_refund',
            requiredAcr: '',
            presentedAcr: 'gold',
            reason: unmet,
          },
          ruledFact('assurance', 'step_up', unmet),
        ],
        score: null,
      },
    ],
    [
      'refuses a call that MODIFY left unchanged',
      { guards: { cannotBeModified: () => true } },
      {
        kind: 'deny',
        layer: 'modify',
        text: unexplained,
        records: [permitted, unneeded, record('modify', 'deny', unexplained)],
        ...saying(ruledFact('modify', 'deny', unexplained)),
      },
    ],
    [
      'returns no ruling',
      { actions: { allow: () => undefined } },
      {
        kind: 'deny',
        layer: 'alignment',
        text: 'governance ended without a ruling',
        records: [],
        ...saying(ruledFact('alignment', 'deny', 'governance ended without a ruling')),
      },
    ],
  ])('that %s invents no reason and allows nothing else', (_, parts, expected) => {
    expect(ruleBy(parts).getSnapshot().output).toEqual(expected);
  });

  it('that defers without a rule ends without a ruling', async () => {
    await expect(toPromise(ruleBy({ guards: { needsIdentity: () => true } }))).rejects.toThrow(
      'a deferral was opened without a rule',
    );
  });
});

describe('a call under a rule that remembers approvals', () => {
  const remember = { time: 1_000, uses: 2 };
  const rules = { defer: aDeferRule({ remember }) };
  const grant = { id: 'g-1', approver: 'ann@example.com', usesLeft: 1 };
  const looked = `redeem channel:slack:#refunds ${runsDigest}`;

  it('runs under a grant that covers it, and the grant is reported', async () => {
    const { ruling, asked } = ruleWith({ grant }, rules);
    const { kind, facts, records } = await ruling;
    expect([kind, asked]).toEqual(['allow', ['modify', looked]]);
    expect(records.at(-1)).toEqual(
      record('defer', 'allow', 'released by a grant of ann@example.com'),
    );
    expect(facts).toEqual([
      {
        type: 'grant.used',
        call: { callId: 'call-1', argsSha256: digest },
        tool: 'issue_refund',
        grant,
      },
      ruledFact('defer', 'allow', 'released by a grant of ann@example.com'),
    ]);
  });

  it.each([null, new Error('no store')])('waits without a grant: %s', async (none) => {
    const { ruling, asked } = ruleWith({ grant: none }, rules);
    expect([(await ruling).kind, asked]).toEqual(['defer', ['modify', looked]]);
  });

  it('is not looked up again during its wait or after its release', async () => {
    for (const isReleased of [true, false]) {
      const approvals = [{ approver: 'ann@example.com', at: 1 }];
      const held = { deferral: aDeferral({ runsSha256: runsDigest, approvals }), isReleased };
      const { ruling, asked } = ruleWith({ grant }, rules, { held });
      expect([(await ruling).kind, asked]).toEqual([isReleased ? 'allow' : 'defer', ['modify']]);
    }
  });

  it('waits under a rule that remembers nothing', async () => {
    const { ruling, asked } = ruleWith({ grant }, { defer: aDeferRule() });
    expect([(await ruling).kind, asked]).toEqual(['defer', ['modify']]);
  });
});

describe('a held call', () => {
  const approvals = [{ approver: 'ann@example.com', at: times.decided }];
  const deferral = aDeferral({ runsSha256: runsDigest, approvals });
  const released = { held: { deferral, isReleased: true } };
  const waiting = { held: { deferral, isReleased: false } };
  const defer = aDeferRule();
  const changed = aCall({ id: 'call-2', args: { order: 8 }, argsSha256: 'c3'.repeat(32) });
  const modified = (call = changed): Modification => ({
    ...{ kind: 'modified', rules: [1], changes: [] },
    call,
  });

  it.each([
    ['is held as before', { defer }],
    ['would no longer be held', { defer: null }],
  ])('runs once after its release where it %s, and is recorded once', async (_, rules) => {
    const { ruling, asked } = ruleWith({}, { ...rules, judgesIntent: true }, released);
    expect(await ruling).toEqual({
      ...{ kind: 'allow', call: aCall(), credential: null },
      ...{ records: [], facts: [], score: null },
    });
    expect(asked).toEqual(['modify']);
  });

  it.each([
    ['a static denial', { refusal: aRefusal() }, 'deny', 'denied by guardrail: refunds'],
    ['a removed tool', { refusal: { ...aRefusal('gone'), isMisfit: true } }, 'misfit', 'gone'],
    ['a higher level of sign-in', { requiredAcr: 'gold' }, 'stepUp', 'no verified identity'],
  ] as const)(
    'is stopped by %s that was configured during the wait',
    async (_, rules, kind, text) => {
      for (const held of [released, waiting]) {
        const ruled = await ruleWith({}, { defer, ...rules }, { ...held, requester: null }).ruling;
        expect(ruled).toMatchObject({ kind, text });
      }
    },
  );

  it('is denied when its arguments after MODIFY have changed', async () => {
    const runs = 'd4'.repeat(32);
    expect(await ruleWith({ runs }, { defer }, released).ruling).toEqual({
      kind: 'deny',
      layer: 'defer',
      text: 'what would run has changed since the approval was requested',
      records: [
        record('defer', 'deny', 'what would run has changed since the approval was requested'),
      ],
      facts: [
        ruledFact('defer', 'deny', 'what would run has changed since the approval was requested'),
      ],
      score: null,
    });
  });

  it('is denied when its arguments after MODIFY are unknown', async () => {
    for (const held of [released, {}]) {
      const runs = new Error('the disk is gone');
      expect(await ruleWith({ runs }, { defer }, held).ruling).toMatchObject({
        ...{ kind: 'deny', layer: 'defer' },
        text: 'governance failed: what would run could not be determined',
      });
    }
  });

  it.each([
    ['another quorum', aDeferRule({ quorum: 2 })],
    ['other approvers', aDeferRule({ approvers: ['bo@example.com'] })],
    ['who signed in as the approver', aDeferRule({ bindApprover: true })],
  ])('is denied after its release where the current policy requires %s', async (_, today) => {
    const { ruling } = ruleWith({}, { defer: today }, released);
    expect(await ruling).toMatchObject({
      ...{ kind: 'deny', layer: 'defer' },
      text: 'the policy in force demands other approvals than this call was given',
    });
  });

  it('is denied after its release where its approver is a speaker and four eyes are required', async () => {
    const speakers = [{ provider: 'ops', userId: 'ann', email: 'ann@example.com' }];
    const today = { defer: aDeferRule({ fourEyes: true }) };
    const { ruling } = ruleWith({}, today, { ...released, speakers });
    expect(await ruling).toMatchObject({ kind: 'deny', layer: 'defer' });
  });

  it('is held again, with a new id, when MODIFY returns another call', async () => {
    const held = aDeferral({ approvers: ['ann@example.com'], quorum: 2, escalateTo: 'x' });
    for (const isReleased of [true, false]) {
      const input = { held: { deferral: held, isReleased }, now: 9_000 };
      for (const rules of [{ defer: null }, { defer: aDeferRule({ quorum: 3 }) }]) {
        const ruled = await ruleWith({ modification: modified() }, rules, input).ruling;
        expect(ruled).toMatchObject({
          kind: 'defer',
          call: changed,
          deferral: {
            ...{ id: 'call-2', args: { order: 8 }, requestedAt: 9_000, runsSha256: runsDigest },
            approvers: ['ann@example.com'],
            approvals: [],
            quorum: rules.defer?.quorum ?? 2,
          },
          facts: [
            { type: 'call.modified' },
            ruledFact('defer', 'defer', 'awaiting channel:slack:#refunds', changed),
            { type: 'deferral.opened' },
          ],
        });
      }
    }
  });

  it('is the same call when MODIFY returns the approved arguments', async () => {
    const modification = modified(aCall());
    expect(await ruleWith({ modification }, { defer }, released).ruling).toMatchObject({
      ...{ kind: 'allow', call: aCall(), records: [], facts: [] },
    });
  });

  it.each([
    ['still would be held', { defer }],
    ['would no longer be held', { defer: null }],
  ])('keeps waiting unchanged where it %s', async (_, rules) => {
    const { ruling } = ruleWith({}, { ...rules, judgesIntent: true }, waiting);
    expect(await ruling).toEqual({
      ...{ kind: 'defer', call: aCall(), deferral, credential: null },
      ...{ records: [], facts: [], score: null },
    });
  });
});

describe('a call whose arguments the approver changed', () => {
  const { args, argsSha256 } = aProposedEdit();
  const ann = { approver: 'ann@example.com', at: times.decided };
  const call = aCall({ args, argsSha256, edits: [anEdit()] });
  const rule = aDeferRule({ isEditable: true });
  const editedUnder = (before: DeferRule | null, deferral: Partial<Deferral> = {}) => ({
    ...{ call, now: times.decided },
    held: {
      deferral: aDeferral({
        ...{ args, argsSha256, edits: [anEdit()], runsSha256: runsDigest, isEditable: true },
        ...{ approvals: [ann], ...deferral },
      }),
      isReleased: true,
      edited: { before: { rule: before, name: null }, heldAs: 'call-2' },
    },
  });
  const bound = { approvers: ['ann@example.com', 'bo@example.com'] };

  it.each<[string, DeferRule | null, DeferRule | null, Partial<Deferral>]>([
    ['the same rule, which has its approval', rule, rule, {}],
    ['no rule holds it now', rule, null, { quorum: 2 }],
    ['no rule held it before', null, null, {}],
  ])('runs under its own id if %s', async (_, before, defer, deferral) => {
    const { ruling } = ruleWith({}, { defer }, editedUnder(before, deferral));
    const decided = 'its approvers released it, and the policy in force allows it';
    expect(await ruling).toEqual({
      ...{ kind: 'allow', call, credential: null, score: null },
      records: [permitted, unneeded, unmodified, record('defer', 'allow', decided)],
      facts: [
        {
          ...{ type: 'call.ruled', tool: 'issue_refund', layer: 'defer', decision: 'allow' },
          ...{ call: { callId: 'call-1', argsSha256 }, reason: decided },
        },
      ],
    });
  });

  it('passes intent alignment and step-up like a new call', async () => {
    const rules = { defer: rule, judgesIntent: true };
    const judged = ruleWith({ verdict: misfit }, rules, editedUnder(rule));
    expect(await judged.ruling).toMatchObject({ kind: 'deny', layer: 'alignment', score: 0.1 });
    expect(judged.judged).toMatchObject([{ call }]);
    const input = { ...editedUnder(rule), requester: null };
    const { ruling } = ruleWith({}, { defer: rule, requiredAcr: 'gold' }, input);
    expect(await ruling).toMatchObject({ kind: 'stepUp' });
  });

  it.each<[string, DeferRule, Partial<Deferral>, object]>([
    [
      'the quorum, with the approval of the changed arguments',
      aDeferRule({ ...bound, quorum: 2 }),
      { ...bound, quorum: 2 },
      { approvals: [ann], quorum: 2 },
    ],
    [
      'the quorum that was stored',
      aDeferRule(bound),
      { ...bound, quorum: 2 },
      { approvals: [ann], quorum: 2 },
    ],
    [
      'another person under four_eyes',
      aDeferRule({ ...bound, fourEyes: true }),
      bound,
      { approvals: [], fourEyes: true },
    ],
    [
      'another person under a stored four_eyes',
      aDeferRule(bound),
      { ...bound, fourEyes: true },
      { approvals: [], fourEyes: true },
    ],
    [
      'a person on the current list',
      aDeferRule({ approvers: ['bo@example.com'] }),
      bound,
      { approvals: [], approvers: ['bo@example.com'] },
    ],
  ])('is held for %s', async (_, defer, deferral, opened) => {
    const speakers = editorsOf([anEdit(ann)]);
    const input = { ...editedUnder(defer, deferral), speakers };
    expect(await ruleWith({}, { defer }, input).ruling).toMatchObject({
      kind: 'defer',
      call: { ...call, id: 'call-2' },
      deferral: { id: 'call-2', args, edits: [anEdit()], ...opened },
      records: expect.arrayContaining([
        expect.objectContaining({ callId: 'call-2', decision: 'defer' }),
      ]),
    });
  });

  it.each([
    ['its own', 1_000, times.decided + 1_000],
    ['the first, if that is earlier', 9e9, aDeferral().expiresAt],
  ])('is held again until a deadline, %s', async (_, timeout, expiresAt) => {
    const other = aDeferRule({ approvers: ['cy@example.com'], timeout });
    expect(await ruleWith({}, { defer: other }, editedUnder(rule)).ruling).toMatchObject({
      deferral: { id: 'call-2', expiresAt },
    });
  });

  it("is held by another rule for that rule's approvers only", async () => {
    const other = aDeferRule({ approvers: ['cy@example.com'], to: ['channel:slack:#bank'] });
    const input = editedUnder(rule, { ...bound, quorum: 2, fourEyes: true });
    expect(await ruleWith({}, { defer: other }, input).ruling).toMatchObject({
      kind: 'defer',
      deferral: {
        ...{ id: 'call-2', to: 'channel:slack:#bank', approvers: ['cy@example.com'] },
        ...{ quorum: 1, approvals: [] },
      },
    });
  });

  it.each([
    ['a rule', rule],
    ['no rule', null],
  ])('is held without approvals under %s if MODIFY changes it again', async (_, defer) => {
    const again = { ...call, id: 'call-3', args: {}, argsSha256: 'e5'.repeat(32) };
    const modification: Modification = {
      ...{ kind: 'modified', rules: [1], changes: [] },
      call: again,
    };
    const { ruling } = ruleWith({ modification }, { defer }, editedUnder(rule));
    expect(await ruling).toMatchObject({
      kind: 'defer',
      deferral: { id: 'call-3', args: {}, approvals: [], edits: [anEdit()] },
    });
  });

  it('is denied when its arguments after MODIFY have changed', async () => {
    const { ruling } = ruleWith({ runs: 'd4'.repeat(32) }, { defer: rule }, editedUnder(rule));
    expect(await ruling).toMatchObject({
      kind: 'deny',
      text: 'what would run has changed since the approval was requested',
    });
  });
});

describe('a call that equals an earlier one', () => {
  const ranCall = { tool: 'issue_refund', argsSha256: aCall().argsSha256, args: '{}' };
  const ran = (callId: string, at: number, more: Partial<RanCall> = {}): RanCall => ({
    ...{ ...ranCall, callId, at, outcome: 'succeeded' },
    ...more,
  });

  it.each<[string, RanCall[], Deferral['repeats']]>([
    ['nothing when none ran', [], undefined],
    ['nothing with other arguments', [ran('call-0', 5, { argsSha256: 'e5' })], undefined],
    ['nothing of another tool', [ran('call-0', 5, { tool: 'look_up' })], undefined],
    ['the last one that ran', [ran('call-8', 5), ran('call-9', 6)], { callId: 'call-9', at: 6 }],
    [
      'its approver',
      [ran('call-9', 6, { approver: 'Ann' })],
      { callId: 'call-9', at: 6, approver: 'Ann' },
    ],
  ])('names %s in the request for approval', async (_, calls, repeats) => {
    const ruled = await ruleWith({}, { defer: aDeferRule() }, { ran: calls }).ruling;
    expect(ruled.kind === 'defer' && ruled.deferral.repeats).toEqual(repeats);
  });
});

describe('the duration of a layer', () => {
  it('is the sum that its ports report, and zero for a comparison', async () => {
    const took = { policy: 0.1, judge: 0.2, modify: 4 };
    const times = async (rules: Partial<ToolRules>) => {
      const { records } = await ruleWith({ took }, rules).ruling;
      return records.map(({ layer, duration }) => [layer, duration]);
    };
    const later = [
      ['assurance', 0],
      ['modify', 4],
      ['defer', 0],
    ];
    expect(await times({})).toEqual([['alignment', 0.1], ...later]);
    expect(await times({ judgesIntent: true })).toEqual([['alignment', 0.3], ...later]);
  });
});
