import { describe, expect, it } from 'vitest';
import { assign, createActor } from 'xstate';
import { type ToolRules, ungoverned } from '../../../src/machines/governance/ruling.ts';
import { toolCallMachine } from '../../../src/machines/governance/tool-call-machine.ts';
import { aCall, aCaller, aTaskInput, digest, times } from '../../helpers/task-fixtures.ts';

/** Rules on `aCall` by these rules alone; nothing is filled in. */
function rule(rules: ToolRules, acr: string) {
  const logic = toolCallMachine.provide({
    actions: {
      consultPolicy: assign(() => ({ rules: { ...rules, took: 0 } })),
      modifyCall: assign(() => ({ modification: { kind: 'unchanged', took: 0 } as const })),
    },
  });
  const { request } = aTaskInput();
  const requester = aCaller({ acr });
  const call = aCall();
  const input = { taskId: 'task-1', call, request, requester, scores: [], now: times.thought };
  const { output } = createActor(logic, { input }).start().getSnapshot();
  return output && { ...output, records: output.records.map(({ decision }) => decision) };
}

describe('a call without governance', () => {
  it('runs without a score, an approval or credentials', () => {
    expect(rule(ungoverned, 'bronze')).toStrictEqual({
      kind: 'allow',
      call: aCall(),
      credential: null,
      records: ['allow', 'allow', 'allow', 'allow'],
      facts: [
        {
          type: 'call.ruled',
          call: { callId: 'call-1', argsSha256: digest },
          tool: 'issue_refund',
          decision: 'allow',
          layer: 'defer',
          reason: 'no approval is required',
        },
      ],
      score: null,
    });
  });

  it.each([
    ['gold', 'allow'],
    ['bronze', 'stepUp'],
  ])('with %s and the demand for gold alone is ruled %s', (acr, kind) => {
    expect(rule({ ...ungoverned, requiredAcr: 'gold' }, acr)?.kind).toBe(kind);
  });
});
