import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  decisions,
  policies,
  sentTasks,
  toolCalls,
} from '../../../packages/testing/arbitraries.ts';
import { startTestAgent } from '../../../packages/testing/testing.ts';
import { runs } from '../../helpers/runs.ts';

const tools = {
  pay: fc.record({ amount: fc.integer() }),
  look: fc.record({ order: fc.string() }),
};

it('generated policies, tasks and decisions are accepted by every agent', {
  timeout: 120_000,
}, async () => {
  const names = Object.keys(tools);
  const steps = fc.array(decisions(), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(policies(names), sentTasks(tools), steps, async (security, sent, decided) => {
      await using agent = await startTestAgent({
        settings: { security },
        tools: { pay: 'paid', look: 'seen' },
      });
      const { id } = await agent.send(sent.text, sent.options);
      let approvals = 0;
      for (const { decision, options } of decided) {
        const { status } = await agent.decide(id, decision, options);
        expect([200, 403, 404, 409]).toContain(status);
        if (status === 200 && decision === 'approve') approvals += 1;
      }
      await agent.advance('1d');
      expect(await agent.held()).toEqual([]);
      const ran = (names: readonly string[]) =>
        agent.runs.filter(({ tool }) => names.includes(tool)).length;
      const { denied, held } = ruledBy(security);
      expect(ran(denied)).toBe(0);
      expect(ran(held)).toBeLessThanOrEqual(approvals);
    }),
    { numRuns: runs(40) },
  );
});

function ruledBy(security: object): { denied: string[]; held: string[] } {
  const { guardrails, defer } = security as {
    guardrails: { denied_tools: string[] };
    defer: { tools: object };
  };
  return { denied: guardrails.denied_tools, held: Object.keys(defer.tools) };
}

it('generated calls of each tool have their own arguments', () => {
  const [first = { tool: '' }] = fc.sample(toolCalls({ pay: fc.constant({ amount: 5 }) }), 1);
  expect(first).toEqual({ tool: 'pay', args: { amount: 5 } });
});
