import { callRuled } from './call-ruled.ts';
import type { Ruling, Verdict } from './ruling.ts';
import {
  whenAssured,
  whenCompared,
  whenDeferChecked,
  whenIdentified,
  whenModified,
  whenRecalled,
  whenRedeemed,
  whenScreened,
} from './tool-call-outcomes.ts';
import {
  noModification,
  noPolicy,
  otherCalls,
  type RedeemInput,
  type ToolCallContext,
  toolCallSetup,
} from './tool-call-setup.ts';

/**
 * One tool call in governance, in the fixed order of docs/contract/governance.md. It ends with exactly one ruling. A
 * failing layer rules DENY, so no layer ever fails open.
 */
export const toolCallMachine = toolCallSetup.createMachine({
  id: 'toolCall',
  description:
    'Governance of one tool call. Layers run in this order, and each leaves a record. A failed layer is a DENY, and no layer runs after a DENY. A call that was held passes all layers but intent alignment again, right after its release and when the daemon starts. A call whose arguments its approver changed passes all layers.',
  context: ({ input }) => ({
    held: null,
    speakers: [],
    task: noTask,
    ...input,
    ran: otherCalls(input.call, input.ran ?? []),
    rules: noPolicy,
    modification: noModification,
    presented: { runsSha256: null, shown: {} },
    score: null,
    records: [],
    facts: [],
    verdict: null,
  }),
  output: ({ context }) => rulingOf(context),
  initial: 'starting',
  states: {
    starting: {
      description: 'Decides whether the rules of the tool read the calls of the session.',
      always: [{ guard: 'readsHistory', target: 'recalling' }, { target: 'aligningIntent' }],
    },
    recalling: {
      description: 'Reads the calls of the session, for rules with a condition on them.',
      invoke: {
        src: 'recall',
        input: ({ context: { taskId, call } }) => ({ taskId, call }),
        onDone: {
          target: 'aligningIntent',
          actions: { type: 'keepHistory', params: ({ event }) => event.output },
        },
        onError: { target: 'ruled', actions: whenRecalled.failed },
      },
    },
    aligningIntent: {
      entry: ['consultPolicy', 'reportShadows'],
      description:
        'Rejects invalid calls and denies banned ones, so that no one is asked to approve them.',
      always: [
        { guard: 'isMisfit', target: 'ruled', actions: whenScreened.misfit },
        { guard: 'isRefused', target: 'ruled', actions: whenScreened.refused },
        { guard: 'judgesIntent', target: 'judgingIntent' },
        { target: 'checkingAssurance', actions: whenScreened.clear },
      ],
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
          { target: 'checkingAssurance', actions: whenCompared.aligned },
        ],
        onError: { target: 'ruled', actions: whenCompared.failed },
      },
    },
    checkingAssurance: {
      description: 'Requires a new sign-in if the tool needs a higher level.',
      always: [
        { guard: 'lacksAssurance', target: 'ruled', actions: whenAssured.lacking },
        { target: 'modifying', actions: whenAssured.sufficient },
      ],
    },
    modifying: {
      description: 'Rewrites the arguments; the result is approved and runs.',
      entry: 'modifyCall',
      always: [
        { guard: 'cannotBeModified', target: 'ruled', actions: whenModified.refused },
        { guard: 'isModified', target: 'checkingDefer', actions: whenModified.rewritten },
        { target: 'checkingDefer', actions: whenModified.unchanged },
      ],
    },
    checkingDefer: {
      description: 'Decides whether a person must release the call.',
      entry: 'consultDefer',
      always: [
        { guard: 'isRefused', target: 'ruled', actions: whenDeferChecked.failed },
        { guard: 'stillWaits', target: 'ruled', actions: whenDeferChecked.stillWaits },
        { guard: 'needsIdentity', target: 'identifying' },
        { target: 'ruled', actions: whenDeferChecked.free },
      ],
    },
    identifying: {
      description:
        'Computes the digest of everything that decides the effect of the call; approvers release exactly that.',
      invoke: {
        src: 'identify',
        input: ({ context: { taskId, call, held } }) => ({ taskId, call, isNew: held === null }),
        onDone: [
          {
            guard: { type: 'runsSomethingElse', params: ({ event }) => event.output },
            target: 'ruled',
            actions: whenIdentified.runsSomethingElse,
          },
          { guard: 'lacksApprovals', target: 'ruled', actions: whenIdentified.lacksApprovals },
          { guard: 'isReleased', target: 'ruled', actions: whenIdentified.released },
          {
            guard: 'isRememberable',
            target: 'redeeming',
            actions: whenIdentified.rememberable,
          },
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
            guard: { type: 'hasGrant', params: ({ event }) => event.output },
            target: 'ruled',
            actions: whenRedeemed.covered,
          },
          { target: 'ruled', actions: whenRedeemed.uncovered },
        ],
        onError: { target: 'ruled', actions: whenRedeemed.uncovered },
      },
    },
    ruled: { description: 'The ruling is final.', type: 'final' },
  },
});

function redeemInput(context: ToolCallContext): RedeemInput {
  const { taskId, call, requester, speakers, task, rules, presented } = context;
  const { runsSha256 } = presented;
  if (rules.defer === null || runsSha256 === null) throw new Error('the call is not held');
  return { taskId, call, requester, speakers, task, rule: rules.defer, runsSha256 };
}

const noTask = { surface: '', session: '', tags: {} };

function rulingOf(context: ToolCallContext): Ruling {
  const { verdict, records, facts, score, held } = context;
  const unruled = { kind: 'deny', layer: 'alignment', text: 'governance ended without a ruling' };
  // Unchanged `allow` records of the first ruling are not recorded again.
  const isNew = held === null || held.edited !== undefined;
  const news = isNew ? records : records.filter(({ decision }) => decision !== 'allow');
  const { [facts.length - 1]: last } = facts;
  const opened = last?.type === 'deferral.opened' ? [last] : [];
  const earlier = facts.slice(0, facts.length - opened.length);
  const reported = [...earlier, ...callRuled(context), ...opened];
  return { ...(verdict ?? (unruled as Verdict)), records: news, facts: reported, score };
}
