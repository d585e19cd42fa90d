import { assign } from 'xstate';
import type { ToolRules } from '../../machines/governance/ruling.ts';
import { toolCallMachine } from '../../machines/governance/tool-call-machine.ts';
import type { ToolCall } from '../../machines/task/task.ts';
import type { Log } from '../ports.ts';
import type { Policy } from './policy.ts';

/** What governance needs from outside. */
export interface GovernPorts {
  policy: Policy;
  log: Log;
}

/** Fills the port of the tool-call chart with the configured policy. A policy that breaks lets nothing pass. */
export function createGovern({ policy, log }: GovernPorts) {
  const rulesFor = (call: ToolCall): ToolRules => {
    try {
      return policy.rulesFor(call);
    } catch (error) {
      log.error({ error, tool: call.tool }, 'governance: the policy could not be consulted');
      const refusal = 'governance failed: the policy could not be consulted';
      return { refusal, requiredAcr: null, acrHierarchy: [], defer: null };
    }
  };
  return toolCallMachine.provide({
    actions: { consultPolicy: assign(({ context }) => ({ rules: rulesFor(context.call) })) },
  });
}
