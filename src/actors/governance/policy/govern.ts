import { assign, fromPromise, type PromiseActorLogic } from 'xstate';
import { governanceFailed } from '../../../machines/domain/finding.ts';
import type { UsedGrant } from '../../../machines/domain/grant.ts';
import type { RanCall, ToolCall } from '../../../machines/domain/task.ts';
import type { Measured, MeasureInput } from '../../../machines/governance/bounds.ts';
import { leftOf } from '../../../machines/governance/limit-standing.ts';
import type {
  IntentVerdict,
  Modification,
  Timed,
  ToolRules,
} from '../../../machines/governance/ruling.ts';
import { toolCallMachine } from '../../../machines/governance/tool-call-machine.ts';
import {
  callToRun,
  type IdentifyInput,
  type JudgeIntentInput,
  type MeasuredCall,
  noPolicy,
  type Recalled,
  type RecallInput,
  type RedeemInput,
  type ToolCallContext,
  toolChangedCode,
} from '../../../machines/governance/tool-call-setup.ts';
import { elapsed } from '../../elapsed.ts';
import type { Ids } from '../../ports/ids.ts';
import type { EqualCall } from '../../ports/ledger.ts';
import type { Log } from '../../ports/log.ts';
import type { Tool } from '../../ports/tool.ts';
import type { IntentScorer } from '../alignment/alignment.ts';
import type { CallFacts } from '../conditions/condition-input.ts';
import type { Policy } from './policy.ts';
import { definitionDigest, runsDigest } from './runs-digest.ts';

export interface GovernPorts {
  policy: Policy;
  /** `null` while intent alignment is off. */
  scorer: IntentScorer | null;
  tools: ReadonlyMap<string, Tool>;
  ids: Ids;
  log: Log;
  /** Returns the newest other call of any session with the same tool and arguments; none when absent. */
  equalTo?: (call: ToolCall, signal: AbortSignal) => Promise<EqualCall | null>;
  /** Returns every call that started in the session of a task; `null` if there are too many to be read. */
  historyOf?: (taskId: string, signal: AbortSignal) => Promise<readonly RanCall[] | null>;
  /** Uses a grant that covers a call; no call is covered when absent. */
  redeem?: (asked: RedeemInput) => Promise<UsedGrant | null>;
  /** Gives back the use of a grant by a call that does not run. */
  giveBack?: (grantId: string) => Promise<void>;
  /** Compares a call with its limits and earlier equal effects; without it, a call with limits is denied. */
  measure?: (asked: MeasureInput, signal: AbortSignal) => Promise<Measured>;
  /** Attributes the requests of an actor to their run; unattributed when absent. */
  attribute?: <Output, Input extends { taskId: string }>(
    logic: PromiseActorLogic<Output, Input>,
  ) => PromiseActorLogic<Output, Input>;
}

/** A tool was removed or redefined while its call was being checked. */
class ToolChangedError extends Error {
  readonly code = toolChangedCode;

  constructor(tool: string) {
    super(`${tool} has changed since it was offered to the model`);
  }
}

/** A call may have waited behind others of its turn, and its tool may have changed during the checks. */
function isAsOffered({ offered }: ToolCall, before: Tool, now: Tool | undefined): boolean {
  const digest = now === undefined ? null : definitionDigest(now);
  return digest === (offered ?? definitionDigest(before));
}

type RuledInput = Pick<
  ToolCallContext,
  'taskId' | 'call' | 'requester' | 'task' | 'ran' | 'now' | 'held'
>;

/** Returns what conditions see of a call besides its arguments. */
function factsOf({
  taskId,
  requester,
  task,
  ran,
  now,
}: Pick<RuledInput, 'taskId' | 'requester' | 'task' | 'ran' | 'now'>): CallFacts {
  return {
    requester,
    task: { id: taskId, ...task },
    ran: task.history === 'cut' ? null : ran,
    now,
  };
}

/** Returns the call as the model requested it, before MODIFY. */
function askedCall({ asked, ...call }: ToolCall): ToolCall {
  return asked === undefined ? call : { ...call, args: asked };
}

/** Binds the ports of the tool-call chart to the configured layers. A layer that fails denies the call. */
export function createGovern(ports: GovernPorts) {
  const { policy, scorer, tools, ids, log, attribute = (logic) => logic } = ports;
  const failed = (error: unknown, call: ToolCall, what: string) => {
    log.error({ error, tool: call.tool, call_id: call.id }, `governance: ${what}`);
    return governanceFailed(what);
  };
  const withBounds = <Rules extends object>(rules: Rules, call: ToolCall, facts: CallFacts) => {
    const bounds = policy.boundsOf(call, facts);
    return bounds === null ? rules : { ...rules, bounds };
  };
  /** Both the requested call and its modified version must be allowed. */
  const rulesFor = ({ call, ...given }: RuledInput): ToolRules => {
    try {
      const isUnread = given.task.history === undefined && policy.readsHistory(call.tool);
      if (isUnread) return { ...noPolicy, readsHistory: true };
      const facts = factsOf(given);
      const readsLimits =
        given.task.limits === undefined ? policy.limitsReadBy(askedCall(call), facts) : [];
      if (readsLimits.length > 0) return { ...noPolicy, readsLimits };
      const rules = policy.rulesFor(askedCall(call), facts);
      if (call.asked === undefined) return withBounds(rules, call, facts);
      if (rules.refusal !== null) return rules;
      // Step-up concerns the arguments as the model sent them.
      const { refusal, defer } = policy.rulesFor(call, facts);
      return withBounds({ ...rules, refusal, defer }, call, facts);
    } catch (error) {
      return { ...noPolicy, refusal: failed(error, call, 'the policy could not be consulted') };
    }
  };
  const modificationOf = ({ call, held, ...given }: RuledInput): Modification => {
    try {
      const modification = policy.modify(askedCall(call), factsOf(given));
      if (modification.kind !== 'modified' || (held ?? null) === null) return modification;
      // A changed call gets a new id for its approval request.
      const isSame = modification.call.argsSha256 === held?.deferral.argsSha256;
      return isSame
        ? modification
        : { ...modification, call: { ...modification.call, id: ids.next() } };
    } catch (error) {
      return { kind: 'refused', refusal: failed(error, call, 'MODIFY could not be carried out') };
    }
  };
  /** The call that MODIFY has changed is the one to be approved. */
  const modified = (context: ToolCallContext): Pick<ToolCallContext, 'modification' | 'rules'> => {
    const modification = timed(() => modificationOf(context));
    const { rules } = context;
    if (modification.kind !== 'modified') return { modification, rules };
    const call = callToRun({ ...context, modification });
    try {
      const { rule, name } = policy.deferRuleOf(call, factsOf(context));
      const { assurance } = rules.names ?? {};
      const names = {
        ...(assurance === undefined ? {} : { assurance }),
        ...(name === null ? {} : { defer: name }),
      };
      const { bounds: _, ...others } = rules;
      const changed = { ...others, defer: rule, names };
      return { modification, rules: withBounds(changed, call, factsOf(context)) };
    } catch (error) {
      const refusal = failed(error, call, 'the policy could not be consulted');
      return { modification, rules: { ...rules, refusal } };
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
  /** Earlier equal calls of any session at the time a call is held. */
  const equals = new WeakMap<ToolCall, EqualCall>();
  const identify = fromPromise<string, IdentifyInput>(
    async ({ input: { call, isNew }, signal }) => {
      const tool = tools.get(call.tool);
      try {
        if (tool === undefined) throw new Error(`unknown tool: ${call.tool}`);
        const digest = call.runsSha256 ?? (await runsDigest(tool, policy));
        const equal = (await ports.equalTo?.(call, signal)) ?? null;
        if (equal !== null) equals.set(call, equal);
        if (isNew && !isAsOffered(call, tool, tools.get(call.tool))) {
          throw new ToolChangedError(call.tool);
        }
        return digest;
      } catch (error) {
        if (!signal.aborted) failed(error, call, 'what would run could not be determined');
        throw error;
      }
    },
  );
  /** Returns what is left of limits, by name; nothing if they cannot be read. */
  const leftOfLimits = async (
    { limits, ...asked }: RecallInput,
    signal: AbortSignal,
  ): Promise<Record<string, string>> => {
    try {
      const bounds = { limits, effect: null };
      const looked = { ...asked, bounds, reserves: false, joins: false, seen: null };
      const measured = await ports.measure?.(looked, signal);
      return Object.fromEntries(
        (measured?.limits ?? []).map((limit) => [limit.name, leftOf(limit)]),
      );
    } catch (error) {
      failed(error, asked.call, 'the limits could not be read');
      return {};
    }
  };
  const recall = fromPromise<Recalled, RecallInput>(async ({ input, signal }) => {
    if (input.limits.length > 0) return { limits: await leftOfLimits(input, signal) };
    try {
      const { historyOf } = ports;
      return { ran: historyOf === undefined ? [] : await historyOf(input.taskId, signal) };
    } catch (error) {
      if (!signal.aborted) failed(error, input.call, 'the calls of the session could not be read');
      throw error;
    }
  });
  const redeem = fromPromise<UsedGrant | null, RedeemInput>(async ({ input, signal }) => {
    try {
      return (await ports.redeem?.(input)) ?? null;
    } catch (error) {
      if (!signal.aborted) failed(error, input.call, 'the grants could not be read');
      throw error;
    }
  });
  const unreturned = 'the use of a grant could not be given back';
  /** Tried once: a use that is given back twice would release a call that nobody approved. */
  const returned = async ({ grantId, call }: MeasureInput) => {
    if (grantId === undefined) return;
    await ports.giveBack?.(grantId).catch((cause: unknown) => failed(cause, call, unreturned));
  };
  const measure = fromPromise<MeasuredCall, MeasureInput>(async ({ input, signal }) => {
    let isReserved = false;
    try {
      if (ports.measure === undefined) throw new Error('there is no ledger');
      const measured = await ports.measure(input, signal);
      isReserved = measured.reserved !== null;
      return { ...measured, heldAs: ids.next() };
    } catch (error) {
      if (!signal.aborted) failed(error, input.call, 'the limits of the call could not be read');
      throw error;
    } finally {
      if (!isReserved) await returned(input);
    }
  });
  return toolCallMachine.provide({
    actions: {
      consultPolicy: assign(({ context }) => ({ rules: timed(() => rulesFor(context)) })),
      showCall: assign(({ context }) => {
        const call = callToRun(context);
        const presented = { ...context.presented, shown: policy.shown(call.args) };
        const repeats = equals.get(call);
        return { presented: repeats === undefined ? presented : { ...presented, repeats } };
      }),
      modifyCall: assign(({ context }) => modified(context)),
    },
    actors: {
      judgeIntent: attribute(judgeIntent),
      identify: attribute(identify),
      recall: attribute(recall),
      redeem: attribute(redeem),
      measure,
    },
  });
}

function timed<Answer extends object>(ask: () => Answer): Timed<Answer> {
  const began = performance.now();
  const answer = ask();
  return { ...answer, took: elapsed(began) };
}
