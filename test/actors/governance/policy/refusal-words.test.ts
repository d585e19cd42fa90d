import { describe, expect, it } from 'vitest';
import { compileGuardrails } from '../../../../src/actors/governance/guardrails/guardrails.ts';
import {
  refusalOfCall,
  refusalOfPrompt,
  refusalOfSpeaker,
} from '../../../../src/actors/governance/policy/refusals.ts';
import type { Caller } from '../../../../src/machines/domain/task.ts';
import { toolCalled } from '../../../helpers/system-story.ts';
import { aCall, aCaller, aTaskInput } from '../../../helpers/task-fixtures.ts';

const tools = new Map([
  ['pay', toolCalled('pay', undefined, { check: () => 'pay: amount is missing' })],
  ['look', toolCalled('look')],
]);

function guardrailsOf(rules: object) {
  const none = { deny_commands: [], deny_prompts: [], deny_output: [] };
  const compiled = compileGuardrails({ ...none, denied_tools: [], redact: [], ...rules });
  if (!compiled.ok) throw new Error('the rules do not compile');
  return compiled.guardrails;
}

describe('the refusal of a call', () => {
  const denying = guardrailsOf({ denied_tools: ['pay'], deny_commands: [{ pattern: 'rm -rf' }] });

  it('reports invalid arguments before any rule is checked', () => {
    const fault = 'the arguments of pay must be an object';
    expect(refusalOfCall(aCall({ tool: 'pay', fault }), tools, denying)).toEqual({
      text: fault,
      findings: [{ gate: 'arguments', decision: 'deny', rule: 'form' }],
      isMisfit: true,
    });
  });

  it('is the denial of a guardrail before that of a schema', () => {
    expect(refusalOfCall(aCall({ tool: 'pay' }), tools, denying)).toEqual({
      text: 'denied by guardrail: pay is a denied tool',
      findings: [{ gate: 'denied_tools', decision: 'deny', rule: 'denied_tools[0]' }],
    });
    expect(refusalOfCall(aCall({ tool: 'pay' }), tools, null)).toEqual({
      text: 'pay: amount is missing',
      findings: [{ gate: 'arguments', decision: 'deny', rule: 'schema' }],
      isMisfit: true,
    });
  });

  it('needs guardrails to look at the arguments', () => {
    const call = aCall({ tool: 'look', args: { line: 'rm -rf /' } });
    expect(refusalOfCall(call, tools, denying)).toEqual({
      text: 'denied by guardrail: rm -rf',
      findings: [{ gate: 'deny_commands', decision: 'deny', rule: 'deny_commands[0]' }],
    });
    expect(refusalOfCall(call, tools, null)).toBeNull();
    expect(refusalOfCall(aCall({ tool: 'look' }), tools, denying)).toBeNull();
  });
});

describe('the refusal of a message', () => {
  const { request } = aTaskInput();

  it('is the denial of a guardrail and names its rule', () => {
    const guardrails = guardrailsOf({ deny_prompts: [{ pattern: 'never' }, { pattern: 'order' }] });
    expect(refusalOfPrompt(request, guardrails)).toEqual({
      text: 'denied by guardrail: order',
      findings: [{ gate: 'deny_prompts', decision: 'deny', rule: 'deny_prompts[1]' }],
    });
  });

  it('is none without a denying rule, and none without guardrails', () => {
    const guardrails = guardrailsOf({ deny_prompts: [{ pattern: 'never' }] });
    expect([refusalOfPrompt(request, guardrails), refusalOfPrompt(request, null)]).toEqual([
      null,
      null,
    ]);
  });
});

describe('the refusal of a speaker in the task of a requester', () => {
  const settings = { enabled: true, acr_hierarchy: ['silver', 'gold'], tools: {} };
  const gold = aCaller({ acr: 'gold' });
  const silver = aCaller({ acr: 'silver' });

  it.each<[string, Caller | null]>([
    ['less strongly', silver],
    ['without a level', aCaller()],
    ['not at all', null],
  ])('requires the level of the requester from a speaker who signed in %s', (_, speaker) => {
    expect(refusalOfSpeaker(speaker, gold, settings)).toEqual({
      text: 'the task was asked for with acr "gold"; sign in with it to continue the task',
      findings: [{ gate: 'governance', decision: 'deny', rule: 'step_up' }],
    });
  });

  it.each<[string, Caller | null, Caller | null, boolean]>([
    ['as strongly', gold, gold, true],
    ['more strongly', gold, silver, true],
    ['at a lower level while step-up is off', silver, gold, false],
    ['at any level when there is no requester', silver, null, true],
  ])('is none for a speaker who signed in %s', (_, speaker, requester, enabled) => {
    expect(refusalOfSpeaker(speaker, requester, { ...settings, enabled })).toBeNull();
  });
});
