import { assign, fromPromise, setup } from 'xstate';
import { policyOf } from '../domain/call-mark.ts';
import type { TaskFact } from '../domain/facts.ts';
import { governanceFailed } from '../domain/finding.ts';
import type { UsedGrant } from '../domain/grant.ts';
import type { CallOrigin } from '../domain/hold.ts';
import type { RepeatedCall } from '../domain/ledger.ts';
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
import {
  barrierOf,
  effectRule,
  heldByBounds,
  joinedBy,
  needsPerson,
  tightenedByBounds,
} from './bounded.ts';
import type { Bounds, CallLimit, Measured, MeasureInput } from './bounds.ts';
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
import { isShortOf } from './tightened.ts';

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
  /**
   * Present once the calls of the session were asked for: `cut` if they are too many to be read, so that no condition on
   * them can be evaluated.
   */
  history?: 'read' | 'cut';
  /**
   * Present once the limits that conditions read were asked for: what is left of each, as an exact decimal. A limit that
   * could not be read is absent, so that no condition on it can be evaluated.
   */
  limits?: Readonly<Record<string, string>>;
  /** Facts that the program of a hold states; absent for none. */
  call?: CallOrigin;
}

export interface ToolCallContext extends Required<ToolCallInput> {
  rules: Timed<ToolRules>;
  modification: Timed<Modification>;
  /** The comparison with the request; `null` if there was none. */
  intent: Timed<IntentVerdict> | null;
  presented: PresentedCall;
  records: DecisionRecord[];
  /** The facts that the verdict adds to those of the layers. */
  facts: TaskFact[];
  verdict: Verdict | null;
}

/** What approvers are asked about, once the call is to be held. */
export interface PresentedCall {
  /** Digest of everything that determines the call's effect; `null` until computed. */
  runsSha256: string | null;
  /** The arguments as displayed to people. */
  shown: JsonObject;
  /** What the ledger has for the call; `null` before it was asked. */
  measured: MeasuredCall | null;
  /** An earlier equal call of any session; absent if there is none. */
  repeats?: NonNullable<Deferral['repeats']>;
  /** The grant that covers the call; `null` for none. */
  grant: UsedGrant | null;
}

/** The answer of the ledger on a call, and the id under which the call is held if it may not run. */
export interface MeasuredCall extends Measured {
  heldAs: string;
}

/** The input of the intent comparison: a call and the caller's message. */
export interface JudgeIntentInput {
  taskId: string;
  call: ToolCall;
  request: Message;
}

/** The input for reading what conditions read: the limits, or if there are none the calls of the session. */
export interface RecallInput
  extends Pick<Required<ToolCallInput>, 'taskId' | 'call' | 'requester'> {
  limits: readonly CallLimit[];
}

/** What conditions read; the other part is absent. */
export interface Recalled {
  /** The calls of the session; `null` if they are too many to be read. */
  ran?: readonly RanCall[] | null;
  limits?: NonNullable<RuledTask['limits']>;
}

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

/** A call that is held, and the facts to report with it. */
export interface Held {
  call: ToolCall;
  deferral: Deferral;
  facts: readonly TaskFact[];
}

/** The reason for which a call may run, and the facts to report with it. */
export interface Allowance {
  reason: string;
  facts?: readonly TaskFact[];
}

/** The objection of a layer. */
export interface Denial {
  /** The layer at which the call is; the layers before it have let it pass. */
  at: Layer;
  /** The layer that objects. */
  layer: Layer;
  text: string;
  took: number;
  rule?: string;
  /** The earlier call with the same effect; absent unless the call repeats it. */
  repeats?: RepeatedCall;
  facts?: readonly TaskFact[];
}

/** The rules before the policy has been consulted: nothing may run. */
export const noPolicy: Timed<ToolRules> = {
  refusal: governanceFailed('the policy was not consulted'),
  judgesIntent: false,
  drift: null,
  requiredAcr: null,
  acrHierarchy: [],
  defer: null,
  credential: null,
  modifies: false,
  took: 0,
};

/** The result without a rule of MODIFY for the call. */
export const unmodified: Timed<Modification> = { kind: 'unchanged', took: 0 };

/** The result of a MODIFY that was not filled in. */
const noModification: Timed<Modification> = {
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
    recall: fromPromise<Recalled, RecallInput>(unfilledPort),
    measure: fromPromise<MeasuredCall, MeasureInput>(unfilledPort),
  },
  actions: {
    /** Port: the current policy's rules for this call. Unfilled, it lets no call pass. */
    consultPolicy: assign({ rules: noPolicy }),
    keepRecalled: assign(({ context }, { ran, limits }: Recalled) => ({
      ran: withRan(context.ran, otherCalls(context.call, ran ?? [])),
      task: {
        ...context.task,
        ...(ran === undefined
          ? {}
          : { history: ran === null ? ('cut' as const) : ('read' as const) }),
        ...(limits === undefined ? {} : { limits }),
      },
    })),
    keepIntent: assign((_, intent: Timed<IntentVerdict>) => ({ intent })),
    /** Port: the result of MODIFY, and the rules for the call as it left it. Unfilled, it lets no call pass. */
    modifyCall: assign({ modification: noModification }),
    /** Port: the arguments as people may see them. Unfilled, all of them. */
    showCall: assign(({ context }) => ({
      presented: { ...context.presented, shown: callToRun(context).args },
    })),
    keepIdentity: assign(({ context: { presented } }, runsSha256: string) => ({
      presented: { ...presented, runsSha256 },
    })),
    keepGrant: assign(({ context: { presented } }, grant: UsedGrant | null) => ({
      presented: { ...presented, grant },
    })),
    keepMeasured: assign(({ context: { presented, rules } }, measured: MeasuredCall) => ({
      presented: { ...presented, measured },
      rules: tightenedByBounds(rules, boundsIn(rules), measured),
    })),
    deny: assign(({ context }, { at, facts = [], took, ...denial }: Denial) => {
      const { layer, text: reason, repeats } = denial;
      return {
        verdict: {
          ...({ kind: 'deny', layer, text: reason } as const),
          ...(repeats === undefined ? {} : { repeats }),
        },
        facts: [...facts],
        records: recorded(context, at, {
          ...{ layer, decision: 'deny', reason, duration: took },
          ...ruleNamed(denial.rule),
        }),
      };
    }),
    turnDown: assign(({ context }, { at, facts = [], took, layer, text }: Denial) => ({
      verdict: { kind: 'misfit', layer, text } as const,
      facts: [...facts],
      records: recorded(context, at, { layer, decision: 'deny', reason: text, duration: took }),
    })),
    demandStepUp: assign(({ context }, required: StepUpRequired) => {
      const { requiredAcr, reason } = required;
      return {
        verdict: { kind: 'stepUp', requiredAcr, text: reason } as const,
        facts: [required],
        records: recorded(context, 'assurance', {
          ...{ layer: 'assurance', decision: 'step_up', reason, duration: 0 },
          ...ruleNamed(context.rules.names?.assurance),
        }),
      };
    }),
    defer: assign(({ context }, { call, deferral, facts }: Held) => {
      const { rules, requester } = context;
      const opened = { type: 'deferral.opened', deferral, requester, ...policyOf(call) } as const;
      return {
        verdict: { kind: 'defer', call, deferral, credential: rules.credential } as const,
        facts: [...facts, opened],
        records: recorded(
          context,
          'defer',
          {
            ...{
              layer: 'defer',
              decision: 'defer',
              reason: `awaiting ${deferral.to}`,
              duration: 0,
            },
            ...ruleNamed(rules.names?.defer),
          },
          call,
        ),
      };
    }),
    holdOn: assign(({ context }, deferral: Deferral) => ({
      verdict: {
        kind: 'defer',
        call: callToRun(context),
        deferral,
        credential: context.rules.credential,
      } as const,
      records: passed(context, 'defer'),
    })),
    join: assign(({ context }, measured: Measured) => {
      const call = callToRun(context);
      const bounds = boundsIn(context.rules);
      const { callId, taskId, result } = joinedBy(asking(context), bounds, measured) ?? unjoined;
      const reason = `joined: call ${callId} of task ${taskId} had the same effect, and its result is returned`;
      return {
        verdict: { kind: 'joined', call, credential: null, result, text: reason } as const,
        records: recorded(context, 'defer', {
          ...{ layer: 'defer', decision: 'deny', reason, duration: 0 },
          ...ruleNamed(effectRule(bounds.effect?.name ?? '')),
        }),
      };
    }),
    allow: assign(({ context }, { reason, facts = [] }: Allowance) => ({
      verdict: {
        kind: 'allow',
        call: withReserved(callToRun(context), context.presented.measured),
        credential: context.rules.credential,
      } as const,
      facts: [...facts],
      records: recorded(context, 'defer', {
        ...{ layer: 'defer', decision: 'allow', reason, duration: 0 },
        ...ruleNamed(context.rules.names?.defer),
      }),
    })),
  },
  guards: {
    needsReading: ({ context: { rules } }) =>
      rules.readsHistory === true || rules.readsLimits !== undefined,
    isMisfit: ({ context }) => context.rules.refusal?.isMisfit === true,
    isRefused: ({ context }) => context.rules.refusal !== null,
    judgesIntent: ({ context: { rules, held } }) =>
      rules.judgesIntent && (held === null || held.edited !== undefined),
    isMisaligned: (_, { decision }: IntentVerdict) => decision === 'deny',
    lacksAssurance: ({ context: { rules, requester } }) =>
      rules.requiredAcr !== null &&
      !satisfiesAcr(requester?.acr, rules.requiredAcr, rules.acrHierarchy),
    cannotBeModified: ({ context }) => context.modification.kind === 'refused',
    isModifiable: ({ context }) => context.rules.modifies,
    stillWaits: ({ context }) => context.held?.isReleased === false && !isChanged(context),
    /** A grant covers only a call that no approver was asked about, and none that a limit or a repeat holds. */
    isRememberable: ({ context }) => isRememberable(context, context.presented.measured),
    staysRememberable: ({ context }, measured: Measured) => isRememberable(context, measured),
    isBounded: ({ context: { rules } }) => rules.bounds !== undefined,
    isUnmeasured: ({ context: { rules, presented } }) =>
      rules.bounds !== undefined && presented.measured === null,
    isBarred: ({ context: { rules } }, measured: Measured) =>
      barrierOf(boundsIn(rules), measured) !== null,
    isReserved: (_, { reserved }: Measured) => reserved !== null,
    isJoined: ({ context }, measured: Measured) =>
      canJoin(context) && joinedBy(asking(context), boundsIn(context.rules), measured) !== null,
    isIdentified: ({ context }) => context.presented.runsSha256 !== null,
    hasGrant: (_, grant: UsedGrant | null) => grant !== null,
    hasGrantWithBounds: ({ context }, grant: UsedGrant | null) =>
      context.rules.bounds !== undefined && grant !== null,
    needsIdentity: ({ context: { rules, held } }) => rules.defer !== null || held !== null,
    hasToolChanged: (_, error: unknown) =>
      error instanceof Error && 'code' in error && error.code === toolChangedCode,
    isReleased: ({ context }) => isReleased(context),
    isReleasedWithBounds: ({ context }) =>
      context.rules.bounds !== undefined && isReleased(context),
    lacksApprovals: ({ context }) => {
      const { held, rules, requester, speakers } = context;
      if (held?.isReleased !== true || held.edited !== undefined || isChanged(context))
        return false;
      const joined = heldByBounds(rules, boundsIn(rules), held.deferral);
      // A limit that demands more asks again; the lists of tool and limit may share nobody.
      return [rules, joined].every(({ defer }) =>
        isShortOf(defer, held.deferral, [requester, ...speakers]),
      );
    },
    runsSomethingElse: ({ context }, runsSha256: string) => {
      if (context.held === null || isChanged(context)) return false;
      return context.held.deferral.runsSha256 !== runsSha256;
    },
  },
});

/** Returns the call as MODIFY left it. A held call that MODIFY has changed before stays as it is. */
export function callToRun({ call, held, modification }: ToolCallContext): ToolCall {
  if (modification.kind !== 'modified') return call;
  return modification.call.argsSha256 === held?.deferral.argsSha256 ? call : modification.call;
}

function isReleased(context: ToolCallContext): boolean {
  return context.held?.isReleased === true && !isChanged(context) && needsNoOther(context);
}

function isRememberable({ held, rules }: ToolCallContext, measured: Measured | null): boolean {
  if (held !== null || rules.defer?.remember === undefined) return false;
  return measured === null || !needsPerson(boundsIn(rules), measured);
}

/** True if a held call differs from the call that its approvers were asked about. */
function isChanged(context: ToolCallContext): boolean {
  const { held } = context;
  return held !== null && callToRun(context).argsSha256 !== held.deferral.argsSha256;
}

/** Returns the limits and the effect of a call; none if the rules have none. */
export function boundsIn({ bounds = unbounded }: Pick<ToolRules, 'bounds'>): Bounds {
  return bounds;
}

const unjoined = { callId: '', taskId: '', result: '' };

const unbounded: Bounds = { limits: [], effect: null };

function asking(context: ToolCallContext): Pick<MeasureInput, 'call' | 'requester'> {
  return { call: callToRun(context), requester: context.requester };
}

/** A program that runs its calls itself receives no results. */
export function canJoin({ rules, task }: ToolCallContext): boolean {
  const { effect } = boundsIn(rules);
  return effect?.repeat === 'join' && effect.isShadow !== true && task.surface !== 'hold';
}

/** Returns a call with what the ledger reserved for it. */
function withReserved(call: ToolCall, measured: Measured | null): ToolCall {
  const { reserved = null } = measured ?? {};
  return reserved === null || reserved.length === 0 ? call : { ...call, reserved };
}

function ruleNamed(rule: string | undefined): Pick<DecisionRecord, 'rule'> {
  return rule === undefined ? {} : { rule };
}

type LayerRecord = Omit<DecisionRecord, 'callId' | 'tool'>;

/** Returns the records of a ruling: those of the layers that let the call pass, and the last one. */
function recorded(
  context: ToolCallContext,
  at: Layer,
  last: LayerRecord,
  // MODIFY may give a call that it changed another id.
  { id: callId, tool } = at === 'defer' ? callToRun(context) : context.call,
): DecisionRecord[] {
  return [...passed(context, at), { callId, tool, ...last }];
}

/** Returns the records of the layers before a layer, which let the call pass. */
function passed(context: ToolCallContext, at: Layer): DecisionRecord[] {
  const index = layers.findIndex(({ layer }) => layer === at);
  const before = index === -1 ? layers : layers.slice(0, index);
  return before.map(({ recordOf }) => recordOf(context));
}

/** The layers before DEFER, which is the last one. */
const layers: readonly { layer: Layer; recordOf: (context: ToolCallContext) => DecisionRecord }[] =
  [
    {
      layer: 'alignment',
      recordOf: ({ call, rules, intent }) => ({
        ...recordFor(call, 'alignment', intent?.reason ?? 'no rule denies it'),
        duration: intent === null ? rules.took : tookToJudge(rules, intent),
      }),
    },
    {
      layer: 'assurance',
      recordOf: ({ call, rules: { requiredAcr } }) =>
        recordFor(
          call,
          'assurance',
          requiredAcr === null ? 'no assurance level is required' : 'acr is sufficient',
        ),
    },
    {
      layer: 'modify',
      recordOf: (context) => {
        const { call, modification } = context;
        const runs = callToRun(context);
        if (modification.kind !== 'modified' || runs === call) {
          const { took: duration } = modification;
          return { ...recordFor(call, 'modify', 'no rule rewrites it'), duration };
        }
        const { rules, changes, took: duration } = modification;
        const named = `${rules.length === 1 ? 'rule' : 'rules'} ${rules.join(', ')}`;
        const record = recordFor(runs, 'modify', `rewritten by ${named}`);
        return { ...record, decision: 'modify', changes, duration };
      },
    },
  ];

function recordFor({ id: callId, tool }: ToolCall, layer: Layer, reason: string): DecisionRecord {
  return { callId, tool, layer, decision: 'allow', reason, duration: 0 };
}

/** Returns the total milliseconds of the policy and the intent comparison. */
export function tookToJudge(rules: Timed<ToolRules>, intent: Timed<IntentVerdict>): number {
  return Math.round((rules.took + intent.took) * 1_000) / 1_000;
}
