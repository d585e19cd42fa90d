import { describe, expect, it } from 'vitest';
import { assign, createActor } from 'xstate';
import { createGovern } from '../../../src/actors/policy/govern.ts';
import type { Ruling, ToolRules } from '../../../src/machines/governance/ruling.ts';
import {
  type ToolCallInput,
  toolCallMachine,
} from '../../../src/machines/governance/tool-call-machine.ts';
import type { DecisionRecord } from '../../../src/machines/task/task.ts';
import {
  aCall,
  aCaller,
  aDeferRule,
  aDeferral,
  times,
  toolRules,
} from '../../helpers/task-fixtures.ts';

/** Rules by which every layer has something to object to. */
const strictest = toolRules({
  refusal: 'denied by guardrail: refunds',
  requiredAcr: 'gold',
  defer: aDeferRule(),
});

function toolCallInput(input: Partial<ToolCallInput> = {}): ToolCallInput {
  return { call: aCall(), requester: aCaller({ acr: 'gold' }), now: times.thought, ...input };
}

function rule(rules: Partial<ToolRules>, input: Partial<ToolCallInput> = {}): Ruling {
  const logic = toolCallMachine.provide({
    actions: { consultPolicy: assign(() => ({ rules: toolRules(rules) })) },
  });
  const { output } = createActor(logic, { input: toolCallInput(input) })
    .start()
    .getSnapshot();
  return output!;
}

function record(
  layer: DecisionRecord['layer'],
  decision: DecisionRecord['decision'],
  reason: string,
): DecisionRecord {
  return { callId: 'call-1', tool: 'issue_refund', layer, decision, reason };
}

const sufficient = record('assurance', 'allow', 'acr is sufficient');

describe('the order of governance', () => {
  it('refuses what can never run before anything else is asked', () => {
    expect(rule(strictest, { requester: null })).toEqual({
      kind: 'deny',
      layer: 'alignment',
      text: 'denied by guardrail: refunds',
      records: [record('alignment', 'deny', 'denied by guardrail: refunds')],
    });
  });

  it('demands a step-up before anybody is asked to approve', () => {
    expect(rule({ ...strictest, refusal: null }, { requester: null })).toEqual({
      kind: 'stepUp',
      requiredAcr: 'gold',
      text: 'no verified identity',
      records: [record('assurance', 'step_up', 'no verified identity')],
    });
  });

  it('defers once the assurance is sufficient', () => {
    expect(rule({ ...strictest, refusal: null })).toEqual({
      kind: 'defer',
      call: aCall(),
      deferral: aDeferral(),
      records: [sufficient, record('defer', 'defer', 'awaiting channel:slack:#refunds')],
    });
  });

  it('allows a call that no layer objects to', () => {
    expect(rule({ requiredAcr: 'gold' })).toEqual({
      kind: 'allow',
      call: aCall(),
      records: [sufficient],
    });
  });

  it('allows a call for which nothing is configured, without a record', () => {
    expect(rule({}, { requester: null })).toEqual({ kind: 'allow', call: aCall(), records: [] });
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
  ])('challenges %s', (_, requester, acrHierarchy, text) => {
    expect(rule({ requiredAcr: 'silver', acrHierarchy }, { requester })).toEqual({
      kind: 'stepUp',
      requiredAcr: 'silver',
      text,
      records: [record('assurance', 'step_up', text)],
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

  it('judges each call by the identity it comes with', () => {
    const requester = aCaller({ acr: 'gold' });
    expect(rule({ requiredAcr: 'gold' }, { requester }).kind).toBe('allow');
    expect(rule({ requiredAcr: 'gold' }, { requester: aCaller() }).kind).toBe('stepUp');
  });
});

describe('a deferral', () => {
  it('takes every parameter of its rule and counts from the end of the last effect', () => {
    const defer = aDeferRule({
      to: 'channel:console:ops',
      timeout: 1_000,
      contextTemplate: '{tool}!',
      approvers: ['ann@example.com'],
      quorum: 2,
      fourEyes: true,
      bindApprover: true,
    });
    expect(rule({ defer }, { now: 5_000 })).toMatchObject({
      deferral: aDeferral({
        to: 'channel:console:ops',
        timeout: 1_000,
        context: 'issue_refund!',
        approvers: ['ann@example.com'],
        quorum: 2,
        fourEyes: true,
        bindApprover: true,
        requestedAt: 5_000,
        expiresAt: 6_000,
      }),
    });
  });
});

describe('a policy that cannot be consulted', () => {
  it('lets nothing pass while the port is not filled', () => {
    const actor = createActor(toolCallMachine, { input: toolCallInput() }).start();
    const text = 'governance failed: no policy was consulted';
    expect(actor.getSnapshot().output).toEqual({
      kind: 'deny',
      layer: 'alignment',
      text,
      records: [record('alignment', 'deny', text)],
    });
  });

  it('is a DENY when it throws, and the log says why', () => {
    const logged: object[] = [];
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (fields: object) => logged.push(fields),
    };
    const error = new Error('the rules are gone');
    const policy = {
      rulesFor: () => {
        throw error;
      },
    };
    const actor = createActor(createGovern({ policy, log }), { input: toolCallInput() }).start();
    const text = 'governance failed: the policy could not be consulted';
    expect(actor.getSnapshot().output).toEqual({
      kind: 'deny',
      layer: 'alignment',
      text,
      records: [record('alignment', 'deny', text)],
    });
    expect(logged).toEqual([{ error, tool: 'issue_refund' }]);
  });

  it('ends without a ruling when a layer itself breaks', () => {
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
