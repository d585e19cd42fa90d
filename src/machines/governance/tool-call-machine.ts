import { assign, setup } from 'xstate';
import type { Caller, DecisionRecord, Deferral, ToolCall } from '../task/task.ts';
import { renderContext } from './defer-policy.ts';
import type { Ruling, ToolRules } from './ruling.ts';
import { satisfiesAcr } from './step-up.ts';

export interface ToolCallInput {
  call: ToolCall;
  requester: Caller | null;
  /** Epoch milliseconds. */
  now: number;
}

export interface ToolCallContext extends ToolCallInput {
  rules: ToolRules;
  records: DecisionRecord[];
  ruling: Ruling | null;
}

/** What holds until the policy has been consulted: nothing may run. */
const noPolicy: ToolRules = {
  refusal: 'governance failed: no policy was consulted',
  requiredAcr: null,
  acrHierarchy: [],
  defer: null,
};

/**
 * One tool call on its way through governance, in the fixed order of contract section 7.
 * It ends with one ruling; a layer that fails rules DENY, so none ever fails open.
 */
export const toolCallMachine = setup({
  types: {
    input: {} as ToolCallInput,
    context: {} as ToolCallContext,
    output: {} as Ruling,
  },
  actions: {
    /** A port: what the policy says about this call, now. Unfilled, it lets nothing pass. */
    consultPolicy: assign({ rules: noPolicy }),
    allow: assign(({ context }) => ({
      ruling: { kind: 'allow', call: context.call, records: context.records } as const,
    })),
    deny: assign(({ context }, denial: Pick<DecisionRecord, 'layer'> & { text: string }) => {
      const records = [...context.records, record(context, denial.layer, 'deny', denial.text)];
      return { records, ruling: { kind: 'deny', ...denial, records } as const };
    }),
    demandStepUp: assign(({ context }) => {
      const requiredAcr = context.rules.requiredAcr ?? '';
      const text = stepUpReason(context);
      const records = [...context.records, record(context, 'assurance', 'step_up', text)];
      return { records, ruling: { kind: 'stepUp', requiredAcr, text, records } as const };
    }),
    recordAssurance: assign(({ context }) => ({
      records:
        context.rules.requiredAcr === null
          ? context.records
          : [...context.records, record(context, 'assurance', 'allow', 'acr is sufficient')],
    })),
    defer: assign(({ context }) => {
      const deferral = deferralOf(context);
      const records = [
        ...context.records,
        record(context, 'defer', 'defer', `awaiting ${deferral.to}`),
      ];
      return { records, ruling: { kind: 'defer', call: context.call, deferral, records } as const };
    }),
  },
  guards: {
    isRefused: ({ context }) => context.rules.refusal !== null,
    lacksAssurance: ({ context: { rules, requester } }) =>
      rules.requiredAcr !== null &&
      !satisfiesAcr(requester?.acr, rules.requiredAcr, rules.acrHierarchy),
    needsApproval: ({ context }) => context.rules.defer !== null,
  },
}).createMachine({
  id: 'toolCall',
  description:
    'One tool call on its way through governance. The layers stand in the order in which they are asked; a layer that is not configured is passed straight through. Whatever goes wrong in a layer is a DENY.',
  context: ({ input }) => ({ ...input, rules: noPolicy, records: [], ruling: null }),
  output: ({ context }) => context.ruling ?? denied(context, 'governance ended without a ruling'),
  initial: 'aligningIntent',
  entry: 'consultPolicy',
  states: {
    aligningIntent: {
      description: 'Refuses what can never run, so that nobody is asked to approve it.',
      always: [
        {
          guard: 'isRefused',
          target: 'ruled',
          actions: {
            type: 'deny',
            params: ({ context }) => ({ layer: 'alignment', text: context.rules.refusal ?? '' }),
          },
        },
        { target: 'checkingAssurance' },
      ],
    },
    checkingAssurance: {
      description: 'Asks the caller to sign in again when the tool demands a higher level.',
      always: [
        { guard: 'lacksAssurance', target: 'ruled', actions: 'demandStepUp' },
        { target: 'modifying', actions: 'recordAssurance' },
      ],
    },
    modifying: {
      description: 'Rewrites the arguments; what comes out is what is approved and what runs.',
      always: { target: 'checkingDefer' },
    },
    checkingDefer: {
      description: 'Decides whether a person must release the call.',
      always: [
        { guard: 'needsApproval', target: 'ruled', actions: 'defer' },
        { target: 'ruled', actions: 'allow' },
      ],
    },
    ruled: { description: 'The ruling stands; nothing is asked after it.', type: 'final' },
  },
});

function record(
  { call }: ToolCallContext,
  layer: DecisionRecord['layer'],
  decision: DecisionRecord['decision'],
  reason: string,
): DecisionRecord {
  return { callId: call.id, tool: call.tool, layer, decision, reason };
}

function denied({ records }: ToolCallContext, text: string): Ruling {
  return { kind: 'deny', layer: 'alignment', text, records };
}

function stepUpReason({ requester, rules }: ToolCallContext): string {
  if (requester === null) return 'no verified identity';
  if (requester.acr === undefined || requester.acr === '') return 'no acr claim presented';
  return `acr "${requester.acr}" does not satisfy "${rules.requiredAcr ?? ''}"`;
}

function deferralOf({ call, rules, now }: ToolCallContext): Deferral {
  const { defer: rule } = rules;
  if (rule === null) throw new Error('a deferral was opened without a rule');
  return {
    id: call.id,
    tool: call.tool,
    args: call.args,
    argsSha256: call.argsSha256,
    to: rule.to,
    timeout: rule.timeout,
    context: renderContext(rule.contextTemplate, call.tool, call.args),
    approvers: rule.approvers,
    quorum: rule.quorum,
    fourEyes: rule.fourEyes,
    bindApprover: rule.bindApprover,
    approvals: [],
    requestedAt: now,
    expiresAt: now + rule.timeout,
  };
}
