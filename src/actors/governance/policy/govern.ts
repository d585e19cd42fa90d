import { assign, fromPromise, type PromiseActorLogic } from 'xstate';
import { governanceFailed } from '../../../machines/governance/finding.ts';
import type {
  IntentVerdict,
  Modification,
  Timed,
  ToolRules,
} from '../../../machines/governance/ruling.ts';
import { toolCallMachine } from '../../../machines/governance/tool-call-machine.ts';
import { type JudgeIntentInput, noPolicy } from '../../../machines/governance/tool-call-setup.ts';
import type { ToolCall } from '../../../machines/task/task.ts';
import { elapsed } from '../../elapsed.ts';
import type { Log, Tool } from '../../ports.ts';
import type { IntentScorer } from '../alignment/alignment.ts';
import type { Policy } from './policy.ts';

/** What governance needs from outside. */
export interface GovernPorts {
  policy: Policy;
  /** `null` while intent alignment is off. */
  scorer: IntentScorer | null;
  tools: ReadonlyMap<string, Tool>;
  log: Log;
  /** Attributes the requests of the scorer to the run they are made for; to nobody when left out. */
  attribute?: (logic: JudgeIntent) => JudgeIntent;
}

type JudgeIntent = PromiseActorLogic<Timed<IntentVerdict>, JudgeIntentInput>;

/** Fills the ports of the tool-call chart with what is configured. A layer that breaks lets nothing pass. */
export function createGovern(ports: GovernPorts) {
  const { policy, scorer, tools, log, attribute = (logic) => logic } = ports;
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
  const judgeIntent = fromPromise<Timed<IntentVerdict>, JudgeIntentInput>(
    async ({ input, signal }) => {
      const { call, request } = input;
      const { tool, args } = call;
      const began = performance.now();
      try {
        if (scorer === null) throw new Error('intent alignment has no judge');
        const toolDescription = tools.get(tool)?.description ?? '';
        const verdict = await scorer({ request, tool, toolDescription, args, signal });
        return { ...verdict, took: elapsed(began) };
      } catch (error) {
        if (!signal.aborted) failed(error, call, 'intent alignment broke');
        throw error;
      }
    },
  );
  return toolCallMachine.provide({
    actions: {
      consultPolicy: assign(({ context }) => ({ rules: timed(() => rulesFor(context.call)) })),
      showCall: assign(({ context }) => ({ shown: policy.shown(context.call.args) })),
      modifyCall: assign(({ context }) => ({
        modification: timed(() => modificationOf(context.call)),
      })),
    },
    actors: { judgeIntent: attribute(judgeIntent) },
  });
}

function timed<Answer extends object>(ask: () => Answer): Timed<Answer> {
  const began = performance.now();
  const answer = ask();
  return { ...answer, took: elapsed(began) };
}
