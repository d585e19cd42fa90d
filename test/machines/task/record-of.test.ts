import { describe, expect, it } from 'vitest';
import * as recordOf from '../../../src/machines/task/record-of.ts';
import {
  aCall,
  aRefusal,
  aTaskContext,
  minted,
  returned,
  toolFailed,
  withheld,
} from '../../helpers/task-fixtures.ts';

const context = aTaskContext({ pending: [aCall(), aCall({ id: 'call-2', tool: 'look_up' })] });
const ofCall = { callId: 'call-1', tool: 'issue_refund' };
const finding = { gate: 'redact', decision: 'redact', rule: 'redact.email' } as const;

describe('the record of a denied message', () => {
  it.each([
    ['says why', aRefusal('denied by guardrail: no'), 'denied by guardrail: no'],
    ['contains no reason where none is given', null, ''],
  ])('%s', (_, refusal, reason) => {
    expect(recordOf.prompt(refusal, 0.25)).toStrictEqual({
      callId: null,
      tool: null,
      layer: 'prompt',
      decision: 'deny',
      reason,
      duration: 0.25,
    });
  });
});

describe('the record of the credentials of a call', () => {
  it.each([
    ['that were issued names the issuer', minted(), 'allow', 'issued by static'],
    ['that were not issued contains the reason', minted('no role'), 'deny', 'no role'],
  ])('%s', (_, outcome, decision, reason) => {
    expect(recordOf.credentials(context, outcome)).toStrictEqual({
      ...ofCall,
      layer: 'credentials',
      decision,
      reason,
      duration: 3,
    });
  });
});

describe('the record of the output of a call', () => {
  const [allow, modify] = ['allow', 'modify'];

  it.each([
    ['that no rule changed', returned('ok'), allow, 'no rule changes it'],
    ['of a tool that failed', toolFailed('closed'), allow, 'no rule changes it'],
    ['that was withheld', withheld('denied by guardrail: no'), 'deny', 'denied by guardrail: no'],
    [
      'with a redaction',
      { ...returned('ok'), findings: [finding] },
      modify,
      'rewritten by redact.email',
    ],
    [
      'that a rule rewrote',
      { ...returned('ok'), rewrites: [3] },
      modify,
      'rewritten by modify output 3',
    ],
    [
      'that several rules rewrote',
      { ...toolFailed('no'), findings: [finding, finding], rewrites: [1, 2] },
      modify,
      'rewritten by redact.email, redact.email, modify output 1, modify output 2',
    ],
  ])('%s contains that, and the duration of the rules', (_, outcome, decision, reason) => {
    expect(recordOf.output(context, outcome)).toStrictEqual({
      ...ofCall,
      layer: 'output',
      decision,
      reason,
      duration: 0.5,
    });
  });
});
