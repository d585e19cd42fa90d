import { assign, fromPromise, setup } from 'xstate';
import { policyOf } from '../domain/call-mark.ts';
import type { TaskFact } from '../domain/facts.ts';
import { governanceFailed } from '../domain/finding.ts';
import type { UsedGrant } from '../domain/grant.ts';
import type { CallOrigin } from '../domain/hold.ts';
import type {
  Caller,
  DecisionRecord,
  Deferral,
  Layer,
  Message,
  RanCall,
  ToolCall,
} from '../domain/task.ts';
import { withRan } from '../domain/with-ran.ts';
import type { JsonObject } from '../json.ts';
import { unfilledPort } from '../unfilled-port.ts';
import type { DeferRule } from './defer-policy.ts';
import { needsNoOther } from './edited-approvals.ts';
import type {
  HeldCall,
  IntentVerdict,
  Modification,
  Ruling,
  Timed,
  ToolRules,
  Verdict,
} from './ruling.ts';
import type { PersonKey } from './same-person.ts';
import { satisfiesAcr } from './step-up.ts';
import { tightened } from './tightened.ts';

export interface ToolCallInput {
  taskId: string;
  call: ToolCall;
  /** The caller's message that the call should serve. */
  request: Message;
  requester: Caller | null;
  /** People other than the requester who sent messages in the task; absent if there are none. */
  speakers?: readonly (PersonKey | null)[];
  /** Intent scores of the task's earlier calls, oldest first. */
  scores: number[];
  /** The deferral that held the call; absent for a first ruling. */
  held?: HeldCall | null;
  /** Earlier started calls of the task and its session, oldest first; absent if there are none. */
  ran?: readonly RanCall[];
  /** The task of the call, as conditions see it; absent if there is none. */
  task?: RuledTask;
  /** Epoch milliseconds. */
  now: number;
}

/** The parts of a task that conditions of rules may read. */
export interface RuledTask {
  surface: string;
  /** The context of the task. */
  session: string;
  tags: Readonly<Record<string, string>>;
  /** True if the calls of the session are too many to be read, so that no condition on them can be evaluated. */
  isHistoryCut?: true;
  /** Facts that the program of a hold states; absent for none. */
  call?: CallOrigin;
}

export interface ToolCallContext extends Required<ToolCallInput> {
  rules: Timed<ToolRules>;
  modification: Timed<Modification>;
  presented: PresentedCall;
  score: number | null;
  records: DecisionRecord[];
  facts: TaskFact[];
  verdict: Verdict | null;
}

/** What approvers are asked about, once the call is to be held. */
export interface PresentedCall {
  /** Digest of everything that determines the call's effect; `null` until computed. */
  runsSha256: string | null;
  /** The arguments as displayed to people. */
  shown: JsonObject;
}

/** The input of the intent comparison: a call and the caller's message. */
export interface JudgeIntentInput {
  taskId: string;
  call: ToolCall;
  request: Message;
}

/** The input for reading the calls of the session. */
export type RecallInput = Pick<ToolCallInput, 'taskId' | 'call'>;

/** The input of the look for a grant that covers a call. */
export interface RedeemInput
  extends Pick<Required<ToolCallInput>, 'taskId' | 'call' | 'requester' | 'speakers'> {
  /** The task of the call. */
  task: RuledTask;
  rule: DeferRule;
  runsSha256: string;
}

/** The input of the digest: everything that determines a call's effect. */
export interface IdentifyInput extends Pick<ToolCallInput, 'taskId' | 'call'> {
  /**
   * True if no approver was asked about the call yet. A tool whose definition has changed since the model saw it is
   * then refused.
   */
  isNew: boolean;
}

/** Error code for a tool whose definition has changed since the model saw it. */
export const toolChangedCode = 'tool_changed';

/** The fact that a higher assurance level is required. */
export type StepUpRequired = Extract<TaskFact, { type: 'stepUp.required' }>;

/** A layer's decision as recorded. A layer that only compared values has no duration. */
type Saying = Pick<DecisionRecord, 'layer' | 'decision' | 'reason' | 'changes' | 'rule'> & {
  took?: number;
};

type Denial = Timed<{ layer: Layer; text: string; rule?: string }>;

/** The rules before the policy has been consulted: nothing may run. */
export const noPolicy: Timed<ToolRules> = {
  refusal: governanceFailed('the policy was not consulted'),
  judgesIntent: false,
  drift: null,
  requiredAcr: null,
  acrHierarchy: [],
  defer: null,
  credential: null,
  took: 0,
};

/** The result before MODIFY has been consulted. */
export const noModification: Timed<Modification> = {
  kind: 'refused',
  refusal: governanceFailed('MODIFY was not consulted'),
  took: 0,
};

/** Returns the calls of a session without a call that is ruled on again after its start. */
export function otherCalls({ id }: ToolCall, ran: readonly RanCall[]): RanCall[] {
  return ran.filter(({ callId }) => callId !== id);
}

/** Setup of the tool-call chart: its ports (unfilled here), actions and guards. */
export const toolCallSetup = setup({
  types: {
    input: {} as ToolCallInput,
    context: {} as ToolCallContext,
    output: {} as Ruling,
  },
  actors: {
    judgeIntent: fromPromise<Timed<IntentVerdict>, JudgeIntentInput>(unfilledPort),
    identify: fromPromise<string, IdentifyInput>(unfilledPort),
    /** Output is the used grant, or `null` if none covers the call. */
    redeem: fromPromise<UsedGrant | null, RedeemInput>(unfilledPort),
    /** Output is `null` if the calls are too many to be read. */
    recall: fromPromise<readonly RanCall[] | null, RecallInput>(unfilledPort),
  },
  actions: {
    /** Port: the current policy's rules for this call. Unfilled, it lets no call pass. */
    consultPolicy: assign({ rules: noPolicy }),
    /** Port: the rule in force for holding the call as MODIFY left it. Unfilled, it stays. */
    consultDefer: () => undefined,
    keepHistory: assign(({ context }, ran: readonly RanCall[] | null) => ({
      ran: withRan(context.ran, otherCalls(context.call, ran ?? [])),
      task: ran === null ? { ...context.task, isHistoryCut: true } : context.task,
    })),
    reportShadows: assign(({ context: { call, rules, facts } }) => ({
      facts: [
        ...facts,
        ...(rules.shadows ?? []).map((shadow) => ({
          type: 'rule.shadowed' as const,
          tool: call.tool,
          ...shadow,
        })),
      ],
    })),
    /** Port: the result of MODIFY for the call. Unfilled, it lets no call pass. */
    modifyCall: assign({ modification: noModification }),
    /** Port: the arguments as people may see them. Unfilled, all of them. */
    showCall: assign({
      presented: ({ context: { presented, call } }) => ({ ...presented, shown: call.args }),
    }),
    record: assign(({ context }, saying: Saying) => ({ records: recorded(context, saying) })),
    report: assign(({ context }, facts: TaskFact[]) => ({ facts: [...context.facts, ...facts] })),
    keepIdentity: assign(({ context: { presented } }, runsSha256: string) => ({
      presented: { ...presented, runsSha256 },
    })),
    keepScore: assign((_, { score }: IntentVerdict) => ({ score })),
    /** A changed call gets a new id for its approval request. */
    renameEdited: assign(({ context: { call, held } }) => {
      if (held?.edited === undefined || call.id !== held.deferral.id) return {};
      return { call: { ...call, id: held.edited.heldAs } };
    }),
    takeModified: assign(({ context: { call, modification } }) => ({
      call: modification.kind === 'modified' ? modification.call : call,
    })),
    deny: assign(({ context }, { layer, text, took, rule }: Denial) => ({
      verdict: { kind: 'deny', layer, text } as const,
      records: recorded(context, {
        ...{ layer, decision: 'deny', reason: text, took },
        ...ruleNamed(rule),
      }),
    })),
    turnDown: assign(
      ({ context }, { layer, text, took }: Timed<{ layer: Layer; text: string }>) => ({
        verdict: { kind: 'misfit', layer, text } as const,
        records: recorded(context, { layer, decision: 'deny', reason: text, took }),
      }),
    ),
    demandStepUp: assign(({ context }, { requiredAcr, reason }: StepUpRequired) => ({
      verdict: { kind: 'stepUp', requiredAcr, text: reason } as const,
      records: recorded(context, {
        ...{ layer: 'assurance', decision: 'step_up', reason },
        ...ruleNamed(context.rules.names?.assurance),
      }),
    })),
    defer: assign(({ context }, deferral: Deferral) => {
      const { call, rules, requester } = context;
      const reason = `awaiting ${deferral.to}`;
      return {
        verdict: { kind: 'defer', call, deferral, credential: rules.credential } as const,
        facts: [
          ...context.facts,
          {
            type: 'deferral.opened',
            deferral,
            requester,
            ...policyOf(call),
          } as const,
        ],
        records: recorded(context, {
          ...{ layer: 'defer', decision: 'defer', reason },
          ...ruleNamed(rules.names?.defer),
        }),
      };
    }),
    holdOn: assign(({ context }, deferral: Deferral) => ({
      verdict: {
        kind: 'defer',
        call: context.call,
        deferral,
        credential: context.rules.credential,
      } as const,
    })),
    allow: assign(({ context }, reason: string) => ({
      verdict: {
        kind: 'allow',
        call: context.call,
        credential: context.rules.credential,
      } as const,
      records: recorded(context, {
        ...{ layer: 'defer', decision: 'allow', reason },
        ...ruleNamed(context.rules.names?.defer),
      }),
    })),
  },
  guards: {
    /** Port: whether a rule of the tool reads the calls of the session. */
    readsHistory: () => false,
    isMisfit: ({ context }) => context.rules.refusal?.isMisfit === true,
    isRefused: ({ context }) => context.rules.refusal !== null,
    judgesIntent: ({ context: { rules, held } }) =>
      rules.judgesIntent && (held === null || held.edited !== undefined),
    isMisaligned: (_, { decision }: IntentVerdict) => decision === 'deny',
    lacksAssurance: ({ context: { rules, requester } }) =>
      rules.requiredAcr !== null &&
      !satisfiesAcr(requester?.acr, rules.requiredAcr, rules.acrHierarchy),
    cannotBeModified: ({ context }) => context.modification.kind === 'refused',
    isModified: ({ context: { modification, held } }) =>
      modification.kind === 'modified' &&
      modification.call.argsSha256 !== held?.deferral.argsSha256,
    stillWaits: ({ context }) => context.held?.isReleased === false && !isChanged(context),
    /** A grant covers only a call that no approver was asked about. */
    isRememberable: ({ context: { held, rules } }) =>
      held === null && rules.defer?.remember !== undefined,
    hasGrant: (_, grant: UsedGrant | null) => grant !== null,
    needsIdentity: ({ context: { rules, held } }) => rules.defer !== null || held !== null,
    hasToolChanged: (_, error: unknown) =>
      error instanceof Error && 'code' in error && error.code === toolChangedCode,
    isReleased: ({ context }) =>
      context.held?.isReleased === true && !isChanged(context) && needsNoOther(context),
    lacksApprovals: ({ context }) => {
      const { held, rules, requester, speakers } = context;
      if (held?.isReleased !== true || held.edited !== undefined || isChanged(context))
        return false;
      const { approvals, quorum } = tightened(held.deferral, rules.defer, [requester, ...speakers]);
      return approvals.length < quorum;
    },
    runsSomethingElse: ({ context }, runsSha256: string) => {
      if (context.held === null || isChanged(context)) return false;
      return context.held.deferral.runsSha256 !== runsSha256;
    },
  },
});

/** True if a held call differs from the call that its approvers were asked about. */
function isChanged({ call, held }: ToolCallContext): boolean {
  return held !== null && call.argsSha256 !== held.deferral.argsSha256;
}

function ruleNamed(rule: string | undefined): Pick<DecisionRecord, 'rule'> {
  return rule === undefined ? {} : { rule };
}

function recorded(
  { call, records }: ToolCallContext,
  { took = 0, ...said }: Saying,
): DecisionRecord[] {
  return [...records, { callId: call.id, tool: call.tool, ...said, duration: took }];
}
