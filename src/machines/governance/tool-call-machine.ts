import type { TaskFact } from '../task/facts.ts';
import type { Deferral, Layer } from '../task/task.ts';
import { openDeferral } from './defer-policy.ts';
import { factsOfFindings } from './facts-of-findings.ts';
import { governanceFailed, type Refusal } from './finding.ts';
import { findDrift } from './intent-alignment.ts';
import type { IntentVerdict, Modification, Ruling, Verdict } from './ruling.ts';
import { stepUpReason } from './step-up.ts';
import {
  noModification,
  noPolicy,
  type StepUpRequired,
  type ToolCallContext,
  toolCallSetup,
} from './tool-call-setup.ts';

/** What a layer that broke amounts to; its error is in the daemon's log. */
const brokenLayer = governanceFailed('intent alignment broke');

/**
 * One tool call on its way through governance, in the fixed order of contract section 7.
 * It ends with one ruling; a layer that fails rules DENY, so none ever fails open.
 */
export const toolCallMachine = toolCallSetup.createMachine({
  id: 'toolCall',
  description:
    'One tool call on its way through governance. The layers stand in the order in which they are asked, and every one that is asked leaves a record. Whatever goes wrong in a layer is a DENY, and nothing is asked after a DENY.',
  context: ({ input }) => ({
    ...input,
    rules: noPolicy,
    modification: noModification,
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
      description: 'Refuses what can never run, so that nobody is asked to approve it.',
      always: [
        {
          guard: 'isRefused',
          target: 'ruled',
          actions: [
            { type: 'deny', params: ({ context }) => denialOf('alignment', context.rules.refusal) },
            {
              type: 'report',
              params: ({ context }) => findingsOf(context, context.rules.refusal),
            },
            'timeLayer',
          ],
        },
        { guard: 'judgesIntent', target: 'judgingIntent' },
        {
          target: 'checkingAssurance',
          actions: [
            {
              type: 'record',
              params: { layer: 'alignment', decision: 'allow', reason: 'no rule denies it' },
            },
            'timeLayer',
          ],
        },
      ],
    },
    judgingIntent: {
      description: 'Compares the call with what the caller asked for.',
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
                params: ({ context, event }) => intentFacts(context, event.output),
              },
              {
                type: 'deny',
                params: ({ event }) => ({
                  layer: 'alignment',
                  text: `denied by intent alignment: ${event.output.reason}`,
                }),
              },
              'timeLayer',
            ],
          },
          {
            target: 'checkingAssurance',
            actions: [
              { type: 'keepScore', params: ({ event }) => event.output },
              {
                type: 'report',
                params: ({ context, event }) => intentFacts(context, event.output),
              },
              {
                type: 'record',
                params: ({ event }) => ({
                  layer: 'alignment',
                  decision: 'allow',
                  reason: event.output.reason,
                }),
              },
              'timeLayer',
            ],
          },
        ],
        onError: {
          target: 'ruled',
          actions: [
            { type: 'deny', params: denialOf('alignment', brokenLayer) },
            { type: 'report', params: ({ context }) => findingsOf(context, brokenLayer) },
            'timeLayer',
          ],
        },
      },
    },
    checkingAssurance: {
      description: 'Asks the caller to sign in again when the tool demands a higher level.',
      always: [
        {
          guard: 'lacksAssurance',
          target: 'ruled',
          actions: [
            { type: 'demandStepUp', params: ({ context }) => stepUpRequired(context) },
            { type: 'report', params: ({ context }) => [stepUpRequired(context)] },
            'timeLayer',
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
            'timeLayer',
          ],
        },
      ],
    },
    modifying: {
      description: 'Rewrites the arguments; what comes out is what is approved and what runs.',
      entry: 'modifyCall',
      always: [
        {
          guard: 'cannotBeModified',
          target: 'ruled',
          actions: [
            {
              type: 'deny',
              params: ({ context }) => denialOf('modify', refusalOf(context.modification)),
            },
            {
              type: 'report',
              params: ({ context }) => findingsOf(context, refusalOf(context.modification)),
            },
            'timeLayer',
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
                reason: `rewritten by ${namesOf(context.modification)}`,
              }),
            },
            { type: 'report', params: ({ context }) => modifiedFacts(context) },
            'timeLayer',
          ],
        },
        {
          target: 'checkingDefer',
          actions: [
            {
              type: 'record',
              params: { layer: 'modify', decision: 'allow', reason: 'no rule rewrites it' },
            },
            'timeLayer',
          ],
        },
      ],
    },
    checkingDefer: {
      description: 'Decides whether a person must release the call.',
      always: [
        {
          guard: 'needsApproval',
          target: 'ruled',
          actions: [{ type: 'defer', params: ({ context }) => deferralOf(context) }, 'timeLayer'],
        },
        { target: 'ruled', actions: ['allow', 'timeLayer'] },
      ],
    },
    ruled: { description: 'The ruling stands; nothing is asked after it.', type: 'final' },
  },
});

function rulingOf({ verdict, records, facts, score }: ToolCallContext): Ruling {
  const unruled = { kind: 'deny', layer: 'alignment', text: 'governance ended without a ruling' };
  return { ...(verdict ?? (unruled as Verdict)), records, facts, score };
}

function denialOf(layer: Layer, refusal: Refusal | null) {
  return { layer, text: refusal?.text ?? 'governance failed' };
}

function findingsOf({ call }: ToolCallContext, refusal: Refusal | null): TaskFact[] {
  return factsOfFindings(call.tool, refusal?.findings ?? []);
}

function refusalOf(modification: Modification): Refusal | null {
  return modification.kind === 'refused' ? modification.refusal : null;
}

function intentFacts({ call, rules, scores }: ToolCallContext, verdict: IntentVerdict): TaskFact[] {
  const judged: TaskFact = { type: 'intent.judged', tool: call.tool, ...verdict };
  if (rules.drift === null || verdict.score === null) return [judged];
  const drift = findDrift([...scores, verdict.score], rules.drift);
  if (drift === null) return [judged];
  return [judged, { type: 'intent.drifted', tool: call.tool, reason: drift.reason }];
}

function stepUpRequired({ call, requester, rules }: ToolCallContext): StepUpRequired {
  const requiredAcr = rules.requiredAcr ?? '';
  return {
    type: 'stepUp.required',
    tool: call.tool,
    requiredAcr,
    presentedAcr: requester?.acr ?? null,
    reason: stepUpReason(requester, requiredAcr),
  };
}

function namesOf(modification: Modification): string {
  const rules = modification.kind === 'modified' ? modification.rules : [];
  return `${rules.length === 1 ? 'rule' : 'rules'} ${rules.join(', ')}`;
}

function modifiedFacts({ call, modification }: ToolCallContext): TaskFact[] {
  if (modification.kind !== 'modified') return [];
  const { rules } = modification;
  return [{ type: 'call.modified', tool: call.tool, part: 'arguments', rules }];
}

function deferralOf({ call, rules, now }: ToolCallContext): Deferral {
  if (rules.defer === null) throw new Error('a deferral was opened without a rule');
  return openDeferral(call, rules.defer, now);
}
