import type { Refusal } from '../../../machines/domain/finding.ts';
import type { ToolCall } from '../../../machines/domain/task.ts';
import type { Bounds, CallEffect } from '../../../machines/governance/bounds.ts';
import type { DeferRule } from '../../../machines/governance/defer-policy.ts';
import type { AppliedRule, Modification, ToolRules } from '../../../machines/governance/ruling.ts';
import { strictestOfBoth } from '../../../machines/governance/strictest.ts';
import { matchesName } from '../../tool-name.ts';
import type { CallFacts } from '../conditions/condition-input.ts';
import type { OutputCheck } from './output-check.ts';
import type { Policy } from './policy.ts';
import type { RuledCall } from './rule-lists.ts';

/**
 * Joins the policy of an agent with a policy that it includes. The result is at least as strict as the included one:
 * that rules on the call as the model sent it and on the call as the agent's MODIFY leaves it, and in each layer the
 * stricter of the two policies decides.
 *
 * | Layer | The stricter |
 * | --- | --- |
 * | denials of calls, messages and output | a denial of either |
 * | step-up | the higher level; levels that cannot be compared deny the call |
 * | MODIFY | the rules of the agent, and then the included ones, which have the last word |
 * | DEFER | a hold of either; of two, `strictestOfBoth` |
 * | limits | all of them; their holds also have the demands of the other policy's hold |
 * | effects | the one in force, with these demands; two in force deny the call |
 * | redaction | both |
 */
export function withIncluded(own: Policy, included: Policy): Policy {
  /** Returns the call that would run without the agent's policy; `null` if the included one denies it. */
  const includedOnly = (call: ToolCall, facts?: CallFacts): ToolCall | null => {
    const changed = included.modify(call, facts);
    if (changed.kind === 'refused') return null;
    return changed.kind === 'modified' ? changed.call : call;
  };
  const modify = (call: ToolCall, facts?: CallFacts): Modification => {
    const alone = included.modify(call, facts);
    if (alone.kind === 'refused') return alone;
    const first = own.modify(call, facts);
    if (first.kind === 'refused') return first;
    if (first.kind === 'unchanged')
      return alone.kind === 'modified' ? allowed(alone, facts) : alone;
    const second = included.modify(first.call, facts);
    if (second.kind !== 'modified') return second.kind === 'refused' ? second : first;
    const { changes } = own.changesOf(call, second.call.args);
    const both = { ...second.call, asked: call.args };
    return allowed(
      { kind: 'modified', call: both, rules: [...first.rules, ...second.rules], changes },
      facts,
    );
  };
  /** The agent's denials also apply to what the included policy has changed. */
  const allowed = (
    changed: Extract<Modification, { kind: 'modified' }>,
    facts?: CallFacts,
  ): Modification => {
    const { refusal } = own.rulesFor(changed.call, facts);
    return refusal === null ? changed : { kind: 'refused', refusal };
  };
  /** Returns the hold of the included policy for the call as it would run, with and without the agent's policy. */
  const includedHold = (call: RuledCall & Partial<ToolCall>, facts: CallFacts): AppliedRule => {
    const now = included.deferRuleOf(call, facts);
    if (call.asked === undefined) return now;
    const asked = { id: '', argsSha256: '', tool: call.tool, args: call.asked };
    const alone = includedOnly(asked, facts);
    return alone === null ? now : stricterHold(now, included.deferRuleOf(alone, facts));
  };
  const deferRuleOf: Policy['deferRuleOf'] = (call, facts) =>
    stricterHold(includedHold(call, facts), own.deferRuleOf(call, facts));
  const boundsOf: Policy['boundsOf'] = (call, facts) => {
    const [theirs, ours] = [included.boundsOf(call, facts), own.boundsOf(call, facts)];
    const both = [
      theirs && withHold(theirs, own.deferRuleOf(call, facts).rule, (over, hold) => [over, hold]),
      ours && withHold(ours, includedHold(call, facts).rule, (over, hold) => [hold, over]),
    ].filter((bounds) => bounds !== null);
    if (both.length === 0) return null;
    return {
      limits: both.flatMap(({ limits }) => limits),
      effect: onlyEffect(both.flatMap(({ effect }) => effect ?? [])),
    };
  };
  return {
    changesOf: (call, changed) => own.changesOf(call, changed),
    credentialOf: (tool) => own.credentialOf(tool),
    callerReads: {
      groups: own.callerReads.groups || included.callerReads.groups,
      claims: own.callerReads.claims.union(included.callerReads.claims),
    },
    limits: [...included.limits, ...own.limits],
    boundsOf,
    limitsReadBy: (call, facts) => [
      ...included.limitsReadBy(call, facts),
      ...own.limitsReadBy(call, facts),
    ],
    sightOf: (asker) => own.sightOf(asker),
    holds: (when, call, facts) => own.holds(when, call, facts),
    mayHold: (tool) => own.mayHold(tool) || included.mayHold(tool),
    isConditional: (tool) => own.isConditional(tool) || included.isConditional(tool),
    readsHistory: (tool) => own.readsHistory(tool) || included.readsHistory(tool),
    isBounded: (tool) => own.isBounded(tool) || included.isBounded(tool),
    isFixed: (tool) => own.isFixed(tool) && included.isFixed(tool),
    refusalOf: (message) => included.refusalOf(message) ?? own.refusalOf(message),
    refusalOfSpeaker: (speaker, requester) =>
      included.refusalOfSpeaker(speaker, requester) ?? own.refusalOfSpeaker(speaker, requester),
    rulesFor(call, facts) {
      const rules = stricterRules(included.rulesFor(call, facts), own.rulesFor(call, facts));
      const changed = call.asked === undefined ? own.modify(call, facts) : null;
      if (changed?.kind !== 'modified') return rules;
      // The agent may have changed what a condition of the included policy reads. Its hold is determined after MODIFY.
      const again = { ...included.rulesFor(changed.call, facts), defer: null, shadows: [] };
      const { assurance } = again.names ?? {};
      return stricterRules(
        { ...again, names: assurance === undefined ? {} : { assurance } },
        rules,
      );
    },
    deferRuleOf,
    modify,
    shown: (args) => own.shown(included.shown(args)),
    checkOutput: bothChecks(included.checkOutput, own.checkOutput),
  };
}

/** Two levels of which neither implies the other. */
const incomparable: Refusal = {
  text: 'denied by step_up: the agent and its included policy require levels that cannot be compared',
  findings: [{ gate: 'governance', decision: 'deny', rule: 'step_up' }],
};

function stricterRules(included: ToolRules, own: ToolRules): ToolRules {
  const step = stricterStep(included, own);
  const refusals = [included.refusal, own.refusal, step === null ? incomparable : null];
  const denied = refusals.find((refusal) => refusal !== null && refusal.isMisfit !== true);
  const shadows = [...(included.shadows ?? []), ...(own.shadows ?? [])];
  const hold = stricterHold(
    { rule: included.defer, name: included.names?.defer ?? null },
    { rule: own.defer, name: own.names?.defer ?? null },
  );
  const { requiredAcr, acrHierarchy, names } = step ?? own;
  const { assurance } = names ?? {};
  const { names: _, shadows: __, ...rest } = own;
  return {
    ...rest,
    refusal: denied ?? refusals.find((refusal) => refusal !== null) ?? null,
    requiredAcr,
    acrHierarchy,
    defer: hold.rule,
    modifies: own.modifies || included.modifies,
    ...(assurance === undefined && hold.name === null
      ? {}
      : {
          names: {
            ...(assurance === undefined ? {} : { assurance }),
            ...(hold.name === null ? {} : { defer: hold.name }),
          },
        }),
    ...(shadows.length === 0 ? {} : { shadows }),
  };
}

/** Returns the rules with the higher level; `null` if the levels cannot be compared. */
function stricterStep(included: ToolRules, own: ToolRules): ToolRules | null {
  if (own.requiredAcr === null) return included.requiredAcr === null ? own : included;
  if (included.requiredAcr === null) return own;
  const [hierarchy] = [included.acrHierarchy, own.acrHierarchy].map((each) => each.join('\n'));
  if (hierarchy !== own.acrHierarchy.join('\n')) return null;
  const [first, second] = [included, own].map(({ requiredAcr }) =>
    own.acrHierarchy.indexOf(requiredAcr ?? ''),
  ) as [number, number];
  if (included.requiredAcr === own.requiredAcr) return included;
  if (first < 0 || second < 0) return null;
  return second > first ? own : included;
}

function stricterHold(first: AppliedRule, second: AppliedRule): AppliedRule {
  if (first.rule === null) return second.rule === null && first.name !== null ? first : second;
  if (second.rule === null) return first;
  return { rule: strictestOfBoth(first.rule, second.rule), name: first.name };
}

/** Joins the holds of limits and of the effect with the hold of another policy, whose approvers they may not replace. */
function withHold(
  { limits, effect }: Bounds,
  hold: DeferRule | null,
  inOrder: (over: DeferRule, hold: DeferRule) => [DeferRule, DeferRule],
): Bounds {
  if (hold === null) return { limits, effect };
  const joined = (over: DeferRule) => strictestOfBoth(...inOrder(over, hold));
  return {
    limits: limits.map((limit) => ({ ...limit, over: limit.over && joined(limit.over) })),
    effect: effect && { ...effect, over: joined(effect.over) },
  };
}

/**
 * Returns the effect that counts: one in force comes before one in shadow. Throws an Error for two in force, which the
 * start cannot find if only some calls match both patterns.
 */
function onlyEffect(effects: readonly CallEffect[]): CallEffect | null {
  const [first, second] = effects.filter(({ isShadow }) => isShadow !== true);
  if (first !== undefined && second !== undefined && !isRefusedAtStart(first, second)) {
    throw new Error(
      `a call has only one effect, and both ${first.name} and ${second.name} are for this call`,
    );
  }
  return first ?? effects[0] ?? null;
}

function isRefusedAtStart(...effects: [CallEffect, CallEffect]): boolean {
  const [one, other] = effects.map(({ name }) => name.slice(name.lastIndexOf('#') + 1)) as [
    string,
    string,
  ];
  return matchesName(one, other) || matchesName(other, one);
}

/** The included rules see the original text, so that no rule of the agent hides a match from them. */
function bothChecks(included: OutputCheck, own: OutputCheck): OutputCheck {
  return async (tool, text, secrets, signal) => {
    const first = await included(tool, text, secrets, signal);
    if (first.kind === 'withheld') return first;
    const second = await own(tool, first.text, secrets, signal);
    return {
      ...second,
      findings: [...first.findings, ...second.findings],
      rewrites: [...first.rewrites, ...second.rewrites],
    };
  };
}
