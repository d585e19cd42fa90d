import { assign, fromPromise } from 'xstate';
import { governanceFailed } from '../../../machines/governance/finding.ts';
import type {
  IntentVerdict,
  Modification,
  ToolRules,
} from '../../../machines/governance/ruling.ts';
import { toolCallMachine } from '../../../machines/governance/tool-call-machine.ts';
import { type JudgeIntentInput, noPolicy } from '../../../machines/governance/tool-call-setup.ts';
import type { DecisionRecord, ToolCall } from '../../../machines/task/task.ts';
import { elapsed } from '../../elapsed.ts';
import type { Log, Tool } from '../../ports.ts';
import type { AlignmentJudge } from '../alignment/alignment.ts';
import type { Policy } from './policy.ts';

/** What governance needs from outside. */
export interface GovernPorts {
  policy: Policy;
  /** `null` while intent alignment is off. */
  judge: AlignmentJudge | null;
  tools: ReadonlyMap<string, Tool>;
  log: Log;
}

/** Fills the ports of the tool-call chart with what is configured. A layer that breaks lets nothing pass. */
export function createGovern({ policy, judge, tools, log }: GovernPorts) {
  const stopwatch = new WeakMap<object, number>();
  const failed = (error: unknown, call: ToolCall, what: string) => {
    log.error({ error, tool: call.tool, call_id: call.id }, `governance: ${what}`);
    return governanceFailed(what);
  };
  const rulesFor = (call: ToolCall): ToolRules => {
    try {
      return policy.rulesFor(call);
    } catch (error) {
      return { ...noPolicy, refusal: failed(error, call, 'the policy could not be consulted') };
    }
  };
  const modificationOf = (call: ToolCall): Modification => {
    try {
      return policy.modify(call);
    } catch (error) {
      return { kind: 'refused', refusal: failed(error, call, 'MODIFY could not be carried out') };
    }
  };
  return toolCallMachine.provide({
    actions: {
      consultPolicy: assign(({ context, self }) => {
        stopwatch.set(self, performance.now());
        return { rules: rulesFor(context.call) };
      }),
      modifyCall: assign(({ context }) => ({ modification: modificationOf(context.call) })),
      timeLayer: assign(({ context, self }) => {
        const now = performance.now();
        const spent = elapsed(stopwatch.get(self) ?? now, now);
        stopwatch.set(self, now);
        return { records: timed(context.records, spent) };
      }),
    },
    actors: {
      judgeIntent: fromPromise<IntentVerdict, JudgeIntentInput>(async ({ input, signal }) => {
        const { call, request } = input;
        const { tool, args } = call;
        try {
          if (judge === null) throw new Error('intent alignment has no judge');
          const toolDescription = tools.get(tool)?.description ?? '';
          return await judge({ request, tool, toolDescription, args, signal });
        } catch (error) {
          if (!signal.aborted) failed(error, call, 'intent alignment broke');
          throw error;
        }
      }),
    },
  });
}

function timed(records: readonly DecisionRecord[], spent: number): DecisionRecord[] {
  const last = records.at(-1);
  if (last === undefined) return [];
  return [...records.slice(0, -1), { ...last, duration: spent }];
}
