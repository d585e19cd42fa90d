import { assign, fromPromise, setup } from 'xstate';
import type { JsonObject } from '../json.ts';
import type { TaskFact } from '../task/facts.ts';
import type {
  Caller,
  DecisionRecord,
  Deferral,
  Layer,
  Message,
  RanCall,
  ToolCall,
} from '../task/task.ts';
import { unfilledPort } from '../unfilled-port.ts';
import { governanceFailed } from './finding.ts';
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
  /** Who has said something in the task beside the requester; absent for nobody. */
  speakers?: readonly (PersonKey | null)[];
  /** How well earlier calls of the task fitted, oldest first. */
  scores: number[];
  /** The deferral that the call was held by; absent when it is ruled on for the first time. */
  held?: HeldCall | null;
  /** The calls of the task and its session that started before, oldest first; absent for none. */
  ran?: readonly RanCall[];
  /** Epoch milliseconds. */
  now: number;
}

export interface ToolCallContext extends Required<ToolCallInput> {
  rules: Timed<ToolRules>;
  modification: Timed<Modification>;
  /** Digest of everything that decides what the call would do; `null` until it is taken. */
  runsSha256: string | null;
  /** The arguments as people are shown them, once the call is to be held. */
  shown: JsonObject;
  score: number | null;
  records: DecisionRecord[];
  facts: TaskFact[];
  verdict: Verdict | null;
}

/** What is compared: a call and the words of the caller that it should serve. */
export interface JudgeIntentInput {
  taskId: string;
  call: ToolCall;
  request: Message;
}

/** What is digested: everything that decides what a call would do. */
export interface IdentifyInput extends Pick<ToolCallInput, 'taskId' | 'call'> {
  /** True when nobody was asked about the call before, so that a tool that is no longer as the model saw it is refused. */
  isNew: boolean;
}

/** The code of the error of a tool that is no longer as the model saw it. */
export const toolChangedCode = 'tool_changed';

/** The fact of a demand to sign in again at a higher level. */
export type StepUpRequired = Extract<TaskFact, { type: 'stepUp.required' }>;

/** What a layer has said, as it is recorded; one that compared and asked nobody took no time. */
type Saying = Pick<DecisionRecord, 'layer' | 'decision' | 'reason' | 'changes'> & { took?: number };

/** What holds until the policy has been consulted: nothing may run. */
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

/** What holds until MODIFY has been consulted. */
export const noModification: Timed<Modification> = {
  kind: 'refused',
  refusal: governanceFailed('MODIFY was not consulted'),
  took: 0,
};

/** The vocabulary of the tool-call chart: its ports, which stay unfilled here, its actions and its guards. */
export const toolCallSetup = setup({
  types: {
    input: {} as ToolCallInput,
    context: {} as ToolCallContext,
    output: {} as Ruling,
  },
  actors: {
    judgeIntent: fromPromise<Timed<IntentVerdict>, JudgeIntentInput>(unfilledPort),
    identify: fromPromise<string, IdentifyInput>(unfilledPort),
  },
  actions: {
    /** A port: what the policy says about this call, now. Unfilled, it lets nothing pass. */
    consultPolicy: assign({ rules: noPolicy }),
    /** A port: what MODIFY makes of the call. Unfilled, it lets nothing pass. */
    modifyCall: assign({ modification: noModification }),
    /** A port: what people may see of the arguments. Unfilled, all of them. */
    showCall: assign({ shown: ({ context }) => context.call.args }),
    record: assign(({ context }, saying: Saying) => ({ records: recorded(context, saying) })),
    report: assign(({ context }, facts: TaskFact[]) => ({ facts: [...context.facts, ...facts] })),
    keepIdentity: assign((_, runsSha256: string) => ({ runsSha256 })),
    keepScore: assign((_, { score }: IntentVerdict) => ({ score })),
    takeModified: assign(({ context: { call, modification } }) => ({
      call: modification.kind === 'modified' ? modification.call : call,
    })),
    deny: assign(({ context }, { layer, text, took }: Timed<{ layer: Layer; text: string }>) => ({
      verdict: { kind: 'deny', layer, text } as const,
      records: recorded(context, { layer, decision: 'deny', reason: text, took }),
    })),
    turnDown: assign(
      ({ context }, { layer, text, took }: Timed<{ layer: Layer; text: string }>) => ({
        verdict: { kind: 'misfit', layer, text } as const,
        records: recorded(context, { layer, decision: 'deny', reason: text, took }),
      }),
    ),
    demandStepUp: assign(({ context }, { requiredAcr, reason }: StepUpRequired) => ({
      verdict: { kind: 'stepUp', requiredAcr, text: reason } as const,
      records: recorded(context, { layer: 'assurance', decision: 'step_up', reason }),
    })),
    defer: assign(({ context }, deferral: Deferral) => {
      const { call, rules } = context;
      const reason = `awaiting ${deferral.to}`;
      return {
        verdict: { kind: 'defer', call, deferral, credential: rules.credential } as const,
        facts: [...context.facts, { type: 'deferral.opened', deferral } as const],
        records: recorded(context, { layer: 'defer', decision: 'defer', reason }),
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
      records: recorded(context, { layer: 'defer', decision: 'allow', reason }),
    })),
  },
  guards: {
    isMisfit: ({ context }) => context.rules.refusal?.isMisfit === true,
    isRefused: ({ context }) => context.rules.refusal !== null,
    judgesIntent: ({ context }) => context.rules.judgesIntent && context.held === null,
    isMisaligned: (_, { decision }: IntentVerdict) => decision === 'deny',
    lacksAssurance: ({ context: { rules, requester } }) =>
      rules.requiredAcr !== null &&
      !satisfiesAcr(requester?.acr, rules.requiredAcr, rules.acrHierarchy),
    cannotBeModified: ({ context }) => context.modification.kind === 'refused',
    isModified: ({ context: { modification, held } }) =>
      modification.kind === 'modified' &&
      modification.call.argsSha256 !== held?.deferral.argsSha256,
    stillWaits: ({ context }) => context.held?.isReleased === false && !isChanged(context),
    needsIdentity: ({ context: { rules, held } }) => rules.defer !== null || held !== null,
    hasToolChanged: (_, error: unknown) =>
      error instanceof Error && 'code' in error && error.code === toolChangedCode,
    isReleased: ({ context }) => context.held?.isReleased === true && !isChanged(context),
    lacksApprovals: ({ context }) => {
      const { held, rules, requester, speakers } = context;
      if (held?.isReleased !== true || isChanged(context)) return false;
      const { approvals, quorum } = tightened(held.deferral, rules.defer, [requester, ...speakers]);
      return approvals.length < quorum;
    },
    runsSomethingElse: ({ context }, runsSha256: string) => {
      if (context.held === null || isChanged(context)) return false;
      const { runsSha256: approved } = context.held.deferral;
      return approved !== undefined && approved !== runsSha256;
    },
  },
});

/** True when a call that was held is not the call that its approvers were asked about. */
function isChanged({ call, held }: ToolCallContext): boolean {
  return held !== null && call.argsSha256 !== held.deferral.argsSha256;
}

function recorded(
  { call, records }: ToolCallContext,
  { took = 0, ...said }: Saying,
): DecisionRecord[] {
  return [...records, { callId: call.id, tool: call.tool, ...said, duration: took }];
}
