import { earlierEqual } from '../task/ran-calls.ts';
import type { Deferral } from '../task/task.ts';
import * as report from './call-reports.ts';
import { openDeferral, ruleOf } from './defer-policy.ts';
import { changedSinceApproval, governanceFailed } from './finding.ts';
import type { Ruling, Verdict } from './ruling.ts';
import { tightened } from './tightened.ts';
import {
  noModification,
  noPolicy,
  type ToolCallContext,
  toolCallSetup,
} from './tool-call-setup.ts';

/** The refusal for a failed layer; its error is in the daemon's log. */
const brokenLayer = governanceFailed('intent alignment broke');

const unidentified = governanceFailed('what would run could not be determined');

/** The tool's definition has changed since the model requested it. */
const toolChanged = 'the tool has changed since it was offered to the model; ask again';

/** Released under a less strict policy; the daemon restarted before the call ran. */
const approvedByTooFew = 'the policy in force demands other approvals than this call was given';

/**
 * One tool call in governance, in the fixed order of docs/contract/governance.md. It ends with exactly one ruling. A
 * failing layer rules DENY, so no layer ever fails open.
 */
export const toolCallMachine = toolCallSetup.createMachine({
  id: 'toolCall',
  description:
    'Governance of one tool call. Layers run in this order, and each leaves a record. A failed layer is a DENY, and no layer runs after a DENY. A call that was held passes all layers but intent alignment again, right after its release and when the daemon starts.',
  context: ({ input }) => ({
    held: null,
    ran: [],
    speakers: [],
    ...input,
    rules: noPolicy,
    modification: noModification,
    runsSha256: null,
    shown: {},
    score: null,
    records: [],
    facts: [],
    verdict: null,
  }),
  output: ({ context }) => rulingOf(context),
  initial: 'aligningIntent',
  entry: 'consultPolicy',
  states: {
    aligningIntent: {
      description:
        'Rejects invalid calls and denies banned ones, so that no one is asked to approve them.',
      always: [
        {
          guard: 'isMisfit',
          target: 'ruled',
          actions: [
            {
              type: 'turnDown',
              params: ({ context: { rules } }) =>
                report.denialOf('alignment', rules.refusal, rules.took),
            },
            {
              type: 'report',
              params: ({ context }) => report.findingsOf(context, context.rules.refusal),
            },
          ],
        },
        {
          guard: 'isRefused',
          target: 'ruled',
          actions: [
            {
              type: 'deny',
              params: ({ context: { rules } }) =>
                report.denialOf('alignment', rules.refusal, rules.took),
            },
            {
              type: 'report',
              params: ({ context }) => report.findingsOf(context, context.rules.refusal),
            },
          ],
        },
        { guard: 'judgesIntent', target: 'judgingIntent' },
        {
          target: 'checkingAssurance',
          actions: [
            {
              type: 'record',
              params: ({ context }) => ({
                layer: 'alignment',
                decision: 'allow',
                reason: 'no rule denies it',
                took: context.rules.took,
              }),
            },
          ],
        },
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
            actions: [
              { type: 'keepScore', params: ({ event }) => event.output },
              {
                type: 'report',
                params: ({ context, event }) => report.intentFacts(context, event.output),
              },
              {
                type: 'deny',
                params: ({ context, event }) => ({
                  layer: 'alignment',
                  text: `denied by intent alignment: ${event.output.reason}`,
                  took: report.tookToJudge(context, event.output),
                }),
              },
            ],
          },
          {
            target: 'checkingAssurance',
            actions: [
              { type: 'keepScore', params: ({ event }) => event.output },
              {
                type: 'report',
                params: ({ context, event }) => report.intentFacts(context, event.output),
              },
              {
                type: 'record',
                params: ({ context, event }) => ({
                  layer: 'alignment',
                  decision: 'allow',
                  reason: event.output.reason,
                  took: report.tookToJudge(context, event.output),
                }),
              },
            ],
          },
        ],
        onError: {
          target: 'ruled',
          actions: [
            {
              type: 'deny',
              params: ({ context }) =>
                report.denialOf('alignment', brokenLayer, context.rules.took),
            },
            { type: 'report', params: ({ context }) => report.findingsOf(context, brokenLayer) },
          ],
        },
      },
    },
    checkingAssurance: {
      description: 'Requires a new sign-in if the tool needs a higher level.',
      always: [
        {
          guard: 'lacksAssurance',
          target: 'ruled',
          actions: [
            { type: 'demandStepUp', params: ({ context }) => report.stepUpRequired(context) },
            { type: 'report', params: ({ context }) => [report.stepUpRequired(context)] },
          ],
        },
        {
          target: 'modifying',
          actions: [
            {
              type: 'record',
              params: ({ context }) => ({
                layer: 'assurance',
                decision: 'allow',
                reason:
                  context.rules.requiredAcr === null
                    ? 'no assurance level is required'
                    : 'acr is sufficient',
              }),
            },
          ],
        },
      ],
    },
    modifying: {
      description: 'Rewrites the arguments; the result is approved and runs.',
      entry: 'modifyCall',
      always: [
        {
          guard: 'cannotBeModified',
          target: 'ruled',
          actions: [
            {
              type: 'deny',
              params: ({ context: { modification } }) =>
                report.denialOf('modify', report.refusalOf(modification), modification.took),
            },
            {
              type: 'report',
              params: ({ context }) =>
                report.findingsOf(context, report.refusalOf(context.modification)),
            },
          ],
        },
        {
          guard: 'isModified',
          target: 'checkingDefer',
          actions: [
            'takeModified',
            {
              type: 'record',
              params: ({ context }) => ({
                layer: 'modify',
                decision: 'modify',
                reason: `rewritten by ${report.namesOf(context.modification)}`,
                changes: report.changesOf(context.modification),
                took: context.modification.took,
              }),
            },
            { type: 'report', params: ({ context }) => report.modifiedFacts(context) },
          ],
        },
        {
          target: 'checkingDefer',
          actions: [
            {
              type: 'record',
              params: ({ context }) => ({
                layer: 'modify',
                decision: 'allow',
                reason: 'no rule rewrites it',
                took: context.modification.took,
              }),
            },
          ],
        },
      ],
    },
    checkingDefer: {
      description: 'Decides whether a person must release the call.',
      always: [
        {
          guard: 'stillWaits',
          target: 'ruled',
          actions: { type: 'holdOn', params: ({ context }) => heldDeferral(context) },
        },
        { guard: 'needsIdentity', target: 'identifying' },
        { target: 'ruled', actions: { type: 'allow', params: 'no approval is required' } },
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
            actions: {
              type: 'deny',
              params: { layer: 'defer', text: changedSinceApproval, took: 0 },
            },
          },
          {
            guard: 'lacksApprovals',
            target: 'ruled',
            actions: { type: 'deny', params: { layer: 'defer', text: approvedByTooFew, took: 0 } },
          },
          {
            guard: 'isReleased',
            target: 'ruled',
            actions: {
              type: 'allow',
              params: 'its approvers released it, and the policy in force allows it',
            },
          },
          {
            target: 'ruled',
            actions: [
              { type: 'keepIdentity', params: ({ event }) => event.output },
              'showCall',
              { type: 'defer', params: ({ context }) => deferralOf(context) },
            ],
          },
        ],
        onError: [
          {
            guard: {
              type: 'hasToolChanged',
              params: ({ event }: { event: { error: unknown } }) => event.error,
            },
            target: 'ruled',
            actions: { type: 'deny', params: { layer: 'defer', text: toolChanged, took: 0 } },
          },
          {
            target: 'ruled',
            actions: [
              { type: 'deny', params: report.denialOf('defer', unidentified, 0) },
              { type: 'report', params: ({ context }) => report.findingsOf(context, unidentified) },
            ],
          },
        ],
      },
    },
    ruled: { description: 'The ruling is final.', type: 'final' },
  },
});

function rulingOf({ verdict, records, facts, score, held }: ToolCallContext): Ruling {
  const unruled = { kind: 'deny', layer: 'alignment', text: 'governance ended without a ruling' };
  // Unchanged `allow` records of the first ruling are not recorded again.
  const news = held === null ? records : records.filter(({ decision }) => decision !== 'allow');
  return { ...(verdict ?? (unruled as Verdict)), records: news, facts, score };
}

function heldDeferral({ held }: ToolCallContext): Deferral {
  if (held === null) throw new Error('the call was not held before');
  return held.deferral;
}

/**
 * A call that changed while it waited is held again, even if the current policy would not hold it. The stricter of both
 * rules determines its approvers.
 */
function deferralOf({ call, rules, held, ran, runsSha256, shown, now }: ToolCallContext): Deferral {
  const before = held === null ? null : ruleOf(held.deferral);
  const rule = rules.defer ?? before;
  if (rule === null) throw new Error('a deferral was opened without a rule');
  const repeats = earlierEqual(ran, call);
  return {
    ...tightened(openDeferral(call, rule, now, shown), before, []),
    ...(runsSha256 === null ? {} : { runsSha256 }),
    ...(repeats === null ? {} : { repeats }),
  };
}
