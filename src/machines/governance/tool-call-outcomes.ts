import type { DoneActorEvent } from 'xstate';
import { changedSinceApproval, governanceFailed, type Refusal } from '../domain/finding.ts';
import type { UsedGrant } from '../domain/grant.ts';
import type { DecisionRecord, Deferral, Layer } from '../domain/task.ts';
import * as report from './call-reports.ts';
import { openDeferral, ruleOf } from './defer-policy.ts';
import { earlierEqual } from './earlier-equal.ts';
import { approvalsOfEdit, isUnderSameRule } from './edited-approvals.ts';
import type { IntentVerdict, Timed } from './ruling.ts';
import { tightened } from './tightened.ts';
import type { ToolCallContext } from './tool-call-setup.ts';

/** The refusal for a failed layer; its error is in the daemon's log. */
const brokenLayer = governanceFailed('intent alignment broke');

const unrecalled = governanceFailed('the calls of the session could not be read');

const unidentified = governanceFailed('what would run could not be determined');

/** The tool's definition has changed since the model requested it. */
const toolChanged = 'the tool has changed since it was offered to the model; ask again';

/** Released under a less strict policy; the daemon restarted before the call ran. */
const approvedByTooFew = 'the policy in force demands other approvals than this call was given';

/** Invalid or banned calls, and calls that the fixed rules let pass. */
export const whenScreened = {
  misfit: refusedBy('turnDown', 'alignment', ({ rules }) => [rules.refusal, rules.took]),
  refused: refusedBy('deny', 'alignment', ({ rules }) => [rules.refusal, rules.took]),
  clear: passed('alignment', ({ rules }) => ({ reason: 'no rule denies it', took: rules.took })),
} as const;

const scored = [
  { type: 'keepScore', params: ({ event }: Compared) => event.output },
  {
    type: 'report',
    params: ({ context, event }: Compared) => report.intentFacts(context, event.output),
  },
] as const;

/** The call was compared with the caller's request. */
export const whenCompared = {
  misaligned: [
    ...scored,
    {
      type: 'deny',
      params: ({ context, event }: Compared) => ({
        layer: 'alignment' as const,
        text: `denied by intent alignment: ${event.output.reason}`,
        took: report.tookToJudge(context, event.output),
      }),
    },
  ],
  aligned: [
    ...scored,
    {
      type: 'record',
      params: ({ context, event }: Compared) => ({
        layer: 'alignment' as const,
        decision: 'allow' as const,
        reason: event.output.reason,
        took: report.tookToJudge(context, event.output),
      }),
    },
  ],
  failed: refusedBy('deny', 'alignment', ({ rules }) => [brokenLayer, rules.took]),
} as const;

/** The calls of the session could not be read, so no condition on them can be evaluated. */
export const whenRecalled = {
  failed: refusedBy('deny', 'alignment', () => [unrecalled, 0]),
} as const;

/** The caller's assurance level was compared with the required one. */
export const whenAssured = {
  lacking: [
    { type: 'demandStepUp', params: ({ context }: Given) => report.stepUpRequired(context) },
    { type: 'report', params: ({ context }: Given) => [report.stepUpRequired(context)] },
  ],
  sufficient: passed('assurance', ({ rules }) => ({
    reason: rules.requiredAcr === null ? 'no assurance level is required' : 'acr is sufficient',
  })),
} as const;

/** MODIFY has run. */
export const whenModified = {
  refused: refusedBy('deny', 'modify', ({ modification }) => [
    report.refusalOf(modification),
    modification.took,
  ]),
  rewritten: [
    'takeModified',
    {
      type: 'record',
      params: ({ context: { modification } }: Given) => ({
        layer: 'modify' as const,
        decision: 'modify' as const,
        reason: `rewritten by ${report.namesOf(modification)}`,
        changes: report.changesOf(modification),
        took: modification.took,
      }),
    },
    { type: 'report', params: ({ context }: Given) => report.modifiedFacts(context) },
  ],
  unchanged: passed('modify', ({ modification }) => ({
    reason: 'no rule rewrites it',
    took: modification.took,
  })),
} as const;

/** The policy says whether a person must release the call. */
export const whenDeferChecked = {
  failed: refusedBy('deny', 'defer', ({ rules }) => [rules.refusal, rules.took]),
  stillWaits: { type: 'holdOn', params: ({ context }: Given) => heldDeferral(context) },
  free: { type: 'allow', params: 'no approval is required' },
} as const;

const keepIdentity = {
  type: 'keepIdentity',
  params: ({ event }: { event: DoneActorEvent<string> }) => event.output,
} as const;

const held = [
  'renameEdited',
  'showCall',
  { type: 'defer', params: ({ context }: Given) => deferralOf(context) },
] as const;

/** The digest of everything that decides the call's effect is known. */
export const whenIdentified = {
  runsSomethingElse: deniedAtRelease(changedSinceApproval),
  lacksApprovals: deniedAtRelease(approvedByTooFew),
  released: {
    type: 'allow',
    params: 'its approvers released it, and the policy in force allows it',
  },
  rememberable: keepIdentity,
  held: [keepIdentity, ...held],
  toolChanged: deniedAtRelease(toolChanged),
  unknown: refusedBy('deny', 'defer', () => [unidentified, 0]),
} as const;

/** A grant for the call was looked for. */
export const whenRedeemed = {
  covered: [
    {
      type: 'allow',
      params: ({ event }: Redeemed) => `released by a grant of ${event.output?.approver}`,
    },
    {
      type: 'report',
      params: ({ context, event }: Redeemed) => report.usedGrant(context, event.output),
    },
  ],
  uncovered: held,
} as const;

interface Redeemed extends Given {
  event: DoneActorEvent<UsedGrant | null>;
}

interface Given {
  context: ToolCallContext;
}

interface Compared extends Given {
  event: DoneActorEvent<Timed<IntentVerdict>>;
}

type Saying = Pick<DecisionRecord, 'reason'> & { took?: number };

/** A layer refuses the call: the denial, and the rules that caused it. */
function refusedBy<Type extends 'deny' | 'turnDown'>(
  type: Type,
  layer: Layer,
  causeOf: (context: ToolCallContext) => [refusal: Refusal | null, took: number],
) {
  return [
    { type, params: ({ context }: Given) => report.denialOf(layer, ...causeOf(context)) },
    {
      type: 'report' as const,
      params: ({ context }: Given) => report.findingsOf(context, causeOf(context)[0]),
    },
  ] as const;
}

/** A layer lets the call pass, which leaves a record. */
function passed<Passed extends Layer>(layer: Passed, say: (context: ToolCallContext) => Saying) {
  return {
    type: 'record' as const,
    params: ({ context }: Given) => ({ layer, decision: 'allow' as const, ...say(context) }),
  };
}

function deniedAtRelease(text: string) {
  return { type: 'deny' as const, params: { layer: 'defer' as const, text, took: 0 } };
}

function heldDeferral({ held }: ToolCallContext): Deferral {
  if (held === null) throw new Error('the call was not held before');
  return held.deferral;
}

/**
 * A call that changed while it waited is held again, even if the current policy would not hold it. The stricter of the two
 * rules determines its approvers, unless an approver changed the call so that another rule applies: then it is that one.
 * No approver extends the wait by a change.
 */
function deferralOf(context: ToolCallContext): Deferral {
  const { call, rules, held, ran, presented, now, requester, speakers } = context;
  const { runsSha256, shown } = presented;
  const stored = held === null ? null : ruleOf(held.deferral);
  const rule = rules.defer ?? stored;
  if (rule === null) throw new Error('a deferral was opened without a rule');
  const isSame = call.argsSha256 === held?.deferral.argsSha256;
  const approvals = isSame ? approvalsOfEdit(context) : [];
  const opened = { ...openDeferral(call, rule, now, shown), approvals };
  const before = isUnderSameRule(context) ? stored : null;
  const repeats = earlierEqual(ran, call);
  const { messages, requests } = held?.deferral ?? {};
  return {
    ...tightened(opened, before, [requester, ...speakers]),
    ...(held?.edited === undefined
      ? {}
      : { expiresAt: Math.min(opened.expiresAt, held.deferral.expiresAt) }),
    ...(runsSha256 === null ? {} : { runsSha256 }),
    ...(repeats === null ? {} : { repeats }),
    ...(messages === undefined ? {} : { messages }),
    ...(requests === undefined ? {} : { requests }),
  };
}
