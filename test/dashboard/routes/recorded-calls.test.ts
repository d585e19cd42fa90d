import { describe, expect, it } from 'vitest';
import { recordedCalls } from '../../../src/http/wire/dashboard/recorded-calls.ts';

function said(call: string, layer: string, decision: string, tool = 'pay') {
  return { call_id: call, tool, layer, decision, reason: '', duration_ms: 1 };
}

const messages = JSON.stringify([
  { role: 'user', parts: [] },
  { role: 'agent', calls: [{ id: 'c1', tool: 'pay', args: { amount: 5 } }] },
]);
const started = (args: string, tool = 'pay') => ({
  event: 'tool_exec',
  fields: { tool, phase: 'start', args },
});

function told(parts: Partial<Parameters<typeof recordedCalls>[0]>) {
  const known = { task: 't1', decisions: [said('c1', 'modify', 'modify')], held: null, events: [] };
  return recordedCalls({ ...known, ...parts }).map(({ id, args, isRewritten, acr }) => ({
    ...{ id, args, isRewritten, acr },
  }));
}

describe('recordedCalls', () => {
  it('uses the arguments that the model requested where its turn was stored', () => {
    const events = [{ event: 'llm_call', fields: { messages } }, started('{"amount":4}')];
    expect(told({ events })).toEqual([
      { id: 'c1', args: { amount: 5 }, isRewritten: false, acr: null },
    ]);
  });

  it('uses those of the waiting call, or of a run with only one candidate', () => {
    const four = [{ id: 'c1', args: { amount: 4 }, isRewritten: true, acr: null }];
    expect(told({ held: { id: 'c1', args: { amount: 4 } } })).toEqual(four);
    expect(told({ events: [started('{"amount":4}')] })).toEqual(four);
    const none = [{ id: 'c1', args: null, isRewritten: false, acr: null }];
    expect(told({ events: [started('{"amount":4}'), started('{"amount":4}')] })).toEqual(none);
    expect(told({ events: [started('{"amo … 4 bytes more')] })).toEqual(none);
    expect(
      told({ events: [{ event: 'llm_call', fields: { messages: '[{"role":"agent"}]' } }] }),
    ).toEqual(none);
  });

  it('knows the level of a caller who needed a step-up', () => {
    const decisions = [said('c1', 'step_up', 'step_up')];
    const refused = (fields: object) => ({
      event: 'auth_step_up_required',
      fields: { tool: 'pay', ...fields },
    });
    const acr = (fields: object) => told({ decisions, events: [refused(fields)] })[0]?.acr;
    expect([acr({ presented_acr: 'silver' }), acr({})]).toEqual(['silver', '']);
  });
});
