import { seenUnder } from './bounded.ts';
import type { Measured, MeasureInput } from './bounds.ts';
import { intentFacts, modifiedFacts, shadowFacts } from './call-reports.ts';
import { callRuled } from './call-ruled.ts';
import type { Ruling, Verdict } from './ruling.ts';
import {
  whenAssured,
  whenCompared,
  whenDeferChecked,
  whenIdentified,
  whenMeasured,
  whenModified,
  whenRecalled,
  whenRedeemed,
  whenScreened,
} from './tool-call-outcomes.ts';
import {
  boundsIn,
  callToRun,
  canJoin,
  noPolicy,
  otherCalls,
  type RedeemInput,
  type ToolCallContext,
  toolCallSetup,
  unmodified,
} from './tool-call-setup.ts';

/** The transitions of a call that the policy lets run, or holds. */
const afterModify = [
  { guard: 'stillWaits', target: 'ruled', actions: whenDeferChecked.stillWaits },
  { guard: 'needsIdentity', target: 'identifying', actions: [] },
  { guard: 'isBounded', target: 'reserving', actions: [] },
  { target: 'ruled', actions: whenDeferChecked.free },
] as const;

/** The transitions of a call to which intent alignment does not object. */
const afterAlignment = [
  { guard: 'lacksAssurance', target: 'ruled', actions: whenAssured.lacking },
  { guard: 'isModifiable', target: 'modifying', actions: [] },
  ...afterModify,
] as const;

/**
 * One tool call in governance, in the fixed order of docs/contract/governance.md. It ends with exactly one ruling. A
 * failing layer rules DENY, so no layer ever fails open. A state is a place where the call waits for an answer, or where
 * it changes; a layer that only compares values is a guard.
 */
export const toolCallMachine = toolCallSetup.createMachine({
  id: 'toolCall',
  description:
    'Governance of one tool call. The layers are intent alignment, assurance, MODIFY and DEFER, in this order, and each leaves a record. A failed layer is a DENY, and no layer runs after a DENY. A call that was held passes all layers but intent alignment again, right after its release and when the daemon starts. A call whose arguments its approver changed passes all layers.',
  context: ({ input }) => ({
    held: null,
    speakers: [],
    task: noTask,
    ...input,
    ran: otherCalls(input.call, input.ran ?? []),
    rules: noPolicy,
    modification: unmodified,
    presented: { runsSha256: null, shown: {}, measured: null, grant: null },
    intent: null,
    records: [],
    facts: [],
    verdict: null,
  }),
  output: ({ context }) => rulingOf(context),
  initial: 'consulting',
  states: {
    consulting: {
      description:
        'Evaluates the rules for the call. Invalid and banned calls end here, so that no one is asked to approve them; so does a call whose caller must sign in at a higher level.',
      entry: 'consultPolicy',
      always: [
        { guard: 'needsReading', target: 'recalling' },
        { guard: 'isMisfit', target: 'ruled', actions: whenScreened.misfit },
        { guard: 'isRefused', target: 'ruled', actions: whenScreened.refused },
        { guard: 'judgesIntent', target: 'judgingIntent' },
        ...afterAlignment,
      ],
    },
    recalling: {
      description:
        'Reads the calls of the session, or what is left of limits, for rules with a condition on them.',
      invoke: {
        src: 'recall',
        input: ({ context: { taskId, call, requester, rules } }) => ({
          ...{ taskId, call, requester },
          limits: rules.readsLimits ?? [],
        }),
        onDone: {
          target: 'consulting',
          actions: { type: 'keepRecalled', params: ({ event }) => event.output },
        },
        onError: { target: 'ruled', actions: whenRecalled.failed },
      },
    },
    judgingIntent: {
      description: 'Compares the call with the request of the caller.',
      invoke: {
        src: 'judgeIntent',
        input: ({ context: { taskId, call, request } }) => ({ taskId, call, request }),
        onDone: [
          {
            guard: { type: 'isMisaligned', params: ({ event }) => event.output },
            target: 'ruled',
            actions: whenCompared.misaligned,
          },
          ...afterAlignment.map((next) => ({
            ...next,
            actions: [whenCompared.judged, ...[next.actions].flat()],
          })),
        ],
        onError: { target: 'ruled', actions: whenCompared.failed },
      },
    },
    modifying: {
      description: 'Rewrites the arguments; the result is approved and runs.',
      entry: 'modifyCall',
      always: [
        { guard: 'cannotBeModified', target: 'ruled', actions: whenModified.refused },
        { guard: 'isRefused', target: 'ruled', actions: whenModified.unruled },
        ...afterModify,
      ],
    },
    identifying: {
      description:
        'Computes the digest of everything that decides the effect of the call; approvers release exactly that.',
      invoke: {
        src: 'identify',
        input: ({ context }) => ({
          taskId: context.taskId,
          call: callToRun(context),
          isNew: context.held === null,
        }),
        onDone: [
          {
            guard: { type: 'runsSomethingElse', params: ({ event }) => event.output },
            target: 'ruled',
            actions: whenIdentified.runsSomethingElse,
          },
          { guard: 'lacksApprovals', target: 'ruled', actions: whenIdentified.lacksApprovals },
          {
            guard: 'isReleasedWithBounds',
            target: 'reserving',
            actions: whenIdentified.kept,
          },
          { guard: 'isReleased', target: 'ruled', actions: whenIdentified.released },
          { guard: 'isUnmeasured', target: 'measuring', actions: whenIdentified.kept },
          { guard: 'isRememberable', target: 'redeeming', actions: whenIdentified.kept },
          { target: 'ruled', actions: whenIdentified.held },
        ],
        onError: [
          {
            guard: {
              type: 'hasToolChanged',
              params: ({ event }: { event: { error: unknown } }) => event.error,
            },
            target: 'ruled',
            actions: whenIdentified.toolChanged,
          },
          { target: 'ruled', actions: whenIdentified.unknown },
        ],
      },
    },
    redeeming: {
      description:
        'Uses the release that an approver gave with an earlier approval, if one covers the call. Without one, the call waits.',
      invoke: {
        src: 'redeem',
        input: ({ context }) => redeemInput(context),
        onDone: [
          {
            guard: { type: 'hasGrantWithBounds', params: ({ event }) => event.output },
            target: 'reserving',
            actions: whenRedeemed.covered,
          },
          {
            guard: { type: 'hasGrant', params: ({ event }) => event.output },
            target: 'ruled',
            actions: whenRedeemed.released,
          },
          { target: 'ruled', actions: whenRedeemed.uncovered },
        ],
        onError: { target: 'ruled', actions: whenRedeemed.uncovered },
      },
    },
    measuring: {
      description:
        'Compares a call about which people are to be asked with its limits, and with earlier calls of the same effect.',
      invoke: {
        src: 'measure',
        input: ({ context }) => measureInput(context, { reserves: false }),
        onDone: [
          { guard: withMeasured('isBarred'), target: 'ruled', actions: whenMeasured.barred },
          { guard: withMeasured('isJoined'), target: 'ruled', actions: whenMeasured.joined },
          {
            guard: withMeasured('staysRememberable'),
            target: 'redeeming',
            actions: whenMeasured.kept,
          },
          { target: 'ruled', actions: whenMeasured.held },
        ],
        onError: { target: 'ruled', actions: whenMeasured.failed },
      },
    },
    reserving: {
      description:
        'The call may run: the ledger compares it with its limits and with earlier calls of the same effect, and reserves in the same step. A call over a limit, or a repeat, is denied, or held with what its approver has not seen.',
      invoke: {
        src: 'measure',
        input: ({ context }) => measureInput(context, { reserves: true }),
        onDone: [
          { guard: withMeasured('isBarred'), target: 'ruled', actions: whenMeasured.barred },
          { guard: withMeasured('isJoined'), target: 'ruled', actions: whenMeasured.joined },
          { guard: withMeasured('isReserved'), target: 'ruled', actions: whenMeasured.reserved },
          { guard: 'isIdentified', target: 'ruled', actions: whenMeasured.held },
          { target: 'identifying', actions: whenMeasured.kept },
        ],
        onError: { target: 'ruled', actions: whenMeasured.failed },
      },
    },
    ruled: { description: 'The ruling is final.', type: 'final' },
  },
});

function measureInput(
  context: ToolCallContext,
  { reserves }: Pick<MeasureInput, 'reserves'>,
): MeasureInput {
  const { taskId, requester, speakers, rules, held, presented } = context;
  const bounds = boundsIn(rules);
  const approver = presented.grant?.approver ?? held?.deferral.approvals.at(-1)?.approver;
  return {
    taskId,
    call: callToRun(context),
    requester,
    bounds,
    reserves,
    joins: canJoin(context),
    seen:
      held?.isReleased === true
        ? seenUnder(rules, bounds, { deferral: held.deferral, askers: [requester, ...speakers] })
        : null,
    ...(approver === undefined ? {} : { approver }),
    ...(presented.grant === null ? {} : { grantId: presented.grant.id }),
  };
}

function withMeasured<Type extends 'isBarred' | 'isJoined' | 'isReserved' | 'staysRememberable'>(
  type: Type,
) {
  return {
    type,
    params: ({ event }: { event: { output: Measured } }) => event.output,
  } as const;
}

function redeemInput(context: ToolCallContext): RedeemInput {
  const { taskId, requester, speakers, task, rules, presented } = context;
  const call = callToRun(context);
  const { runsSha256 } = presented;
  if (rules.defer === null || runsSha256 === null) throw new Error('the call is not held');
  return { taskId, call, requester, speakers, task, rule: rules.defer, runsSha256 };
}

const noTask = { surface: '', session: '', tags: {} };

function rulingOf(context: ToolCallContext): Ruling {
  const { verdict, records, facts, intent, held } = context;
  const unruled = { kind: 'deny', layer: 'alignment', text: 'governance ended without a ruling' };
  // Unchanged `allow` records of the first ruling are not recorded again.
  const isNew = held === null || held.edited !== undefined;
  const news = isNew ? records : records.filter(({ decision }) => decision !== 'allow');
  const opened = facts.filter(({ type }) => type === 'deferral.opened');
  const reported = [
    ...shadowFacts(context),
    ...intentFacts(context),
    ...modifiedFacts(context),
    ...facts.filter((fact) => !opened.includes(fact)),
    ...callRuled(context),
    ...opened,
  ];
  const score = intent?.score ?? null;
  return { ...(verdict ?? (unruled as Verdict)), records: news, facts: reported, score };
}
