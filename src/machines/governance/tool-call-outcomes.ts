import type { DoneActorEvent } from 'xstate';
import { changedSinceApproval, governanceFailed, type Refusal } from '../domain/finding.ts';
import type { UsedGrant } from '../domain/grant.ts';
import type { FirstEffect } from '../domain/ledger.ts';
import type { Deferral, Layer, ToolCall } from '../domain/task.ts';
import { barrierOf, needsPerson, reachedFacts, reservedFacts } from './bounded.ts';
import * as report from './call-reports.ts';
import { openDeferral, ruleOf } from './defer-policy.ts';
import { earlierEqual } from './earlier-equal.ts';
import { approvalsOfEdit, isUnderSameRule } from './edited-approvals.ts';
import type { IntentVerdict, Timed } from './ruling.ts';
import { decidable } from './strictest.ts';
import { tightened } from './tightened.ts';
import {
  boundsIn,
  callToRun,
  type Held,
  type MeasuredCall,
  type ToolCallContext,
  tookToJudge,
} from './tool-call-setup.ts';

/** The refusal for a failed layer; its error is in the daemon's log. */
const brokenLayer = governanceFailed('intent alignment broke');

const unrecalled = governanceFailed('the calls of the session could not be read');

const unmeasured = governanceFailed('the limits of the call could not be read');

const unidentified = governanceFailed('what would run could not be determined');

/** The tool's definition has changed since the model requested it. */
const toolChanged = 'the tool has changed since it was offered to the model; ask again';

/** Released under a less strict policy; the daemon restarted before the call ran. */
const approvedByTooFew = 'the policy in force demands other approvals than this call was given';

/** Invalid or banned calls. */
export const whenScreened = {
  misfit: refusedBy('turnDown', 'alignment', ({ rules }) => rules),
  refused: refusedBy('deny', 'alignment', ({ rules }) => rules),
} as const;

const judged = { type: 'keepIntent', params: ({ event }: Compared) => event.output } as const;

/** The call was compared with the caller's request. */
export const whenCompared = {
  judged,
  misaligned: [
    judged,
    {
      type: 'deny',
      params: ({ context: { rules }, event: { output } }: Compared) => ({
        at: 'alignment' as const,
        layer: 'alignment' as const,
        text: `denied by intent alignment: ${output.reason}`,
        took: tookToJudge(rules, output),
      }),
    },
  ],
  failed: refusedBy('deny', 'alignment', ({ rules: { took } }) => ({ refusal: brokenLayer, took })),
} as const;

/** The calls of the session could not be read, so no condition on them can be evaluated. */
export const whenRecalled = {
  failed: refusedBy('deny', 'alignment', () => ({ refusal: unrecalled, took: 0 })),
} as const;

/** The caller's assurance level was compared with the required one. */
export const whenAssured = {
  lacking: { type: 'demandStepUp', params: ({ context }: Given) => report.stepUpRequired(context) },
} as const;

/** MODIFY has run. */
export const whenModified = {
  refused: refusedBy('deny', 'modify', ({ modification }) => ({
    refusal: report.refusalOf(modification),
    took: modification.took,
  })),
  unruled: refusedBy('deny', 'defer', ({ rules }) => rules),
} as const;

/** The call may run. */
const allowed = {
  type: 'allow',
  params: ({ context }: Given) => allowanceOf(context),
} as const;

/** The policy says whether a person must release the call. */
export const whenDeferChecked = {
  stillWaits: { type: 'holdOn', params: ({ context }: Given) => heldDeferral(context) },
  free: allowed,
} as const;

/** Returns why a call may run: nobody need be asked, its approvers released it, or a grant covers it. */
function allowanceOf(context: ToolCallContext) {
  const { held, presented, rules } = context;
  const call = callToRun(context);
  const { grant, measured } = presented;
  const facts = [
    ...report.usedGrant(context, grant),
    ...(measured === null
      ? []
      : [
          ...(held === null ? reachedFacts(call, boundsIn(rules), measured) : []),
          ...reservedFacts(call, measured),
        ]),
  ];
  if (held?.isReleased === true) {
    return { reason: 'its approvers released it, and the policy in force allows it', facts };
  }
  if (grant !== null) return { reason: `released by a grant of ${grant.approver}`, facts };
  return { reason: 'no approval is required', facts };
}

const keepIdentity = {
  type: 'keepIdentity',
  params: ({ event }: Identified) => event.output,
} as const;

const held = [
  'showCall',
  {
    type: 'defer',
    params: ({ context }: Given) => deferredCall(context, context.presented.runsSha256),
  },
] as const;

/** The digest of everything that decides the call's effect is known. */
export const whenIdentified = {
  runsSomethingElse: deniedAtRelease(changedSinceApproval),
  lacksApprovals: deniedAtRelease(approvedByTooFew),
  released: allowed,
  kept: keepIdentity,
  held: [keepIdentity, ...held],
  toolChanged: deniedAtRelease(toolChanged),
  unknown: refusedBy('deny', 'defer', () => ({ refusal: unidentified, took: 0 })),
} as const;

const keepGrant = {
  type: 'keepGrant',
  params: ({ event }: Redeemed) => event.output,
} as const;

/** A grant for the call was looked for. */
export const whenRedeemed = {
  covered: keepGrant,
  released: [keepGrant, allowed],
  uncovered: held,
} as const;

const keepMeasured = {
  type: 'keepMeasured',
  params: ({ event }: MeasuredEvent) => event.output,
} as const;

/** The ledger has compared the call with its limits and with earlier calls of the same effect. */
export const whenMeasured = {
  kept: keepMeasured,
  barred: [
    {
      type: 'deny',
      params: ({ context, event: { output } }: MeasuredEvent) => {
        const barrier = barrierOf(boundsIn(context.rules), output) ?? { text: '', rule: '' };
        const facts = reachedFacts(callToRun(context), boundsIn(context.rules), output);
        const layer = 'defer' as const;
        return { at: layer, layer, ...barrier, facts, took: 0 };
      },
    },
  ],
  joined: { type: 'join', params: ({ event }: MeasuredEvent) => event.output },
  reserved: [keepMeasured, allowed],
  held: [keepMeasured, ...held],
  failed: refusedBy('deny', 'defer', () => ({ refusal: unmeasured, took: 0 })),
} as const;

interface MeasuredEvent extends Given {
  event: DoneActorEvent<MeasuredCall>;
}

interface Identified extends Given {
  event: DoneActorEvent<string>;
}

interface Redeemed extends Given {
  event: DoneActorEvent<UsedGrant | null>;
}

interface Given {
  context: ToolCallContext;
}

interface Compared extends Given {
  event: DoneActorEvent<Timed<IntentVerdict>>;
}

/** A layer refuses the call, after `took` milliseconds. */
function refusedBy<Type extends 'deny' | 'turnDown'>(
  type: Type,
  at: Layer,
  causeOf: (context: ToolCallContext) => { refusal: Refusal | null; took: number },
) {
  return {
    type,
    params: ({ context }: Given) => report.denialOf(context, at, causeOf(context)),
  } as const;
}

function deniedAtRelease(text: string) {
  return {
    type: 'deny' as const,
    params: { at: 'defer' as const, layer: 'defer' as const, text, took: 0 },
  };
}

function heldDeferral({ held }: ToolCallContext): Deferral {
  if (held === null) throw new Error('the call was not held before');
  return held.deferral;
}

/** Returns a call to hold, with its deferral. A changed call gets a new id for its approval request. */
function deferredCall(context: ToolCallContext, runsSha256: string | null): Held {
  const { held } = context;
  const runs = callToRun(context);
  const { measured } = context.presented;
  const isAskedAgain = runs.id === held?.deferral.id && held.isReleased;
  const heldAs = isAskedAgain ? (held.edited?.heldAs ?? measured?.heldAs) : undefined;
  const call = heldAs === undefined ? runs : { ...runs, id: heldAs };
  const facts = measured === null ? [] : reachedFacts(call, boundsIn(context.rules), measured);
  return { call, deferral: deferralOf(context, call, runsSha256), facts };
}

/** Approvers see the earlier call, not its result, which belongs to its caller. */
function withoutResult({ result: _, ...first }: FirstEffect): FirstEffect {
  return first;
}

/**
 * A call that changed while it waited is held again, even if the current policy would not hold it. The stricter of the two
 * rules determines its approvers, unless an approver changed the call so that another rule applies: then it is that one.
 * Approvers of a limit decide on a call over it. No approver extends the wait by a change.
 */
function deferralOf(context: ToolCallContext, call: ToolCall, runsSha256: string | null): Deferral {
  const { rules, held, ran, presented, now, requester, speakers } = context;
  const { shown, measured } = presented;
  const stored = held === null ? null : ruleOf(held.deferral);
  const rule = rules.defer ?? stored;
  if (rule === null) throw new Error('a deferral was opened without a rule');
  const isSame = call.argsSha256 === held?.deferral.argsSha256;
  const approvals = isSame ? approvalsOfEdit(context) : [];
  const opened = { ...openDeferral(call, rule, now, shown), approvals };
  const before = isUnderSameRule(context) ? stored : null;
  const joined = tightened(opened, before, [requester, ...speakers]);
  const isBounded = measured !== null && needsPerson(boundsIn(rules), measured);
  const repeats = presented.repeats ?? earlierEqual(ran, call);
  const { messages, requests } = held?.deferral ?? {};
  return {
    ...(isBounded ? decidable(joined, opened) : joined),
    ...(held?.edited === undefined
      ? {}
      : { expiresAt: Math.min(opened.expiresAt, held.deferral.expiresAt) }),
    ...(runsSha256 === null ? {} : { runsSha256 }),
    ...(repeats === null ? {} : { repeats }),
    ...(measured === null || measured.limits.length === 0 ? {} : { limits: measured.limits }),
    ...(measured === null || measured.first === null
      ? {}
      : { first: withoutResult(measured.first) }),
    ...(messages === undefined ? {} : { messages }),
    ...(requests === undefined ? {} : { requests }),
  };
}
