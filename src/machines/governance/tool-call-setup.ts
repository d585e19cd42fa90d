import { assign, fromPromise, setup } from 'xstate';
import type { TaskFact } from '../task/facts.ts';
import type { Caller, DecisionRecord, Deferral, Message, ToolCall } from '../task/task.ts';
import { governanceFailed } from './finding.ts';
import type { IntentVerdict, Modification, Ruling, ToolRules, Verdict } from './ruling.ts';
import { satisfiesAcr } from './step-up.ts';

export interface ToolCallInput {
  taskId: string;
  call: ToolCall;
  /** The caller's message that the call should serve. */
  request: Message;
  requester: Caller | null;
  /** How well earlier calls of the task fitted, oldest first. */
  scores: number[];
  /** Epoch milliseconds. */
  now: number;
}

export interface ToolCallContext extends ToolCallInput {
  rules: ToolRules;
  modification: Modification;
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

/** The fact of a demand to sign in again at a higher level. */
export type StepUpRequired = Extract<TaskFact, { type: 'stepUp.required' }>;

/** What a layer has said, as it is recorded. */
type Saying = Pick<DecisionRecord, 'layer' | 'decision' | 'reason'>;

/** What holds until the policy has been consulted: nothing may run. */
export const noPolicy: ToolRules = {
  refusal: governanceFailed('the policy was not consulted'),
  judgesIntent: false,
  drift: null,
  requiredAcr: null,
  acrHierarchy: [],
  defer: null,
  credential: null,
};

/** What holds until MODIFY has been consulted. */
export const noModification: Modification = {
  kind: 'refused',
  refusal: governanceFailed('MODIFY was not consulted'),
};

/** The vocabulary of the tool-call chart: its ports, which stay unfilled here, its actions and its guards. */
export const toolCallSetup = setup({
  types: {
    input: {} as ToolCallInput,
    context: {} as ToolCallContext,
    output: {} as Ruling,
  },
  actors: {
    judgeIntent: fromPromise<IntentVerdict, JudgeIntentInput>(() =>
      Promise.reject(new Error('the port is not filled')),
    ),
  },
  actions: {
    /** A port: what the policy says about this call, now. Unfilled, it lets nothing pass. */
    consultPolicy: assign({ rules: noPolicy }),
    /** A port: what MODIFY makes of the call. Unfilled, it lets nothing pass. */
    modifyCall: assign({ modification: noModification }),
    /** A port: writes into the last record how long its layer took. */
    timeLayer: () => undefined,
    record: assign(({ context }, saying: Saying) => ({ records: recorded(context, saying) })),
    report: assign(({ context }, facts: TaskFact[]) => ({ facts: [...context.facts, ...facts] })),
    keepScore: assign((_, { score }: IntentVerdict) => ({ score })),
    takeModified: assign(({ context: { call, modification } }) => ({
      call: modification.kind === 'modified' ? modification.call : call,
    })),
    deny: assign(({ context }, denial: { layer: Saying['layer']; text: string }) => ({
      verdict: { kind: 'deny', ...denial } as const,
      records: recorded(context, {
        layer: denial.layer,
        decision: 'deny',
        reason: denial.text,
      }),
    })),
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
    allow: assign(({ context }) => ({
      verdict: {
        kind: 'allow',
        call: context.call,
        credential: context.rules.credential,
      } as const,
      records: recorded(context, {
        layer: 'defer',
        decision: 'allow',
        reason: 'no approval is required',
      }),
    })),
  },
  guards: {
    isRefused: ({ context }) => context.rules.refusal !== null,
    judgesIntent: ({ context }) => context.rules.judgesIntent,
    isMisaligned: (_, { decision }: IntentVerdict) => decision === 'deny',
    lacksAssurance: ({ context: { rules, requester } }) =>
      rules.requiredAcr !== null &&
      !satisfiesAcr(requester?.acr, rules.requiredAcr, rules.acrHierarchy),
    cannotBeModified: ({ context }) => context.modification.kind === 'refused',
    isModified: ({ context }) => context.modification.kind === 'modified',
    needsApproval: ({ context }) => context.rules.defer !== null,
  },
});

function recorded({ call, records }: ToolCallContext, saying: Saying): DecisionRecord[] {
  return [...records, { callId: call.id, tool: call.tool, ...saying, duration: 0 }];
}
