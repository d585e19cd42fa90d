import { markOfCall } from '../domain/call-mark.ts';
import type { TaskFact } from '../domain/facts.ts';
import {
  type FirstEffect,
  limitEntries,
  type MeasuredLimit,
  type RepeatedCall,
} from '../domain/ledger.ts';
import type { Deferral, ToolCall } from '../domain/task.ts';
import type { Bounds, CallLimit, Measured, MeasureInput, SeenBounds } from './bounds.ts';
import { boundName } from './rule-name.ts';
import type { ToolRules } from './ruling.ts';
import type { PersonKey } from './same-person.ts';
import { strictest, strictestOfBoth } from './strictest.ts';
import { isShortOf } from './tightened.ts';

/** Why a call may not run, with the name of the rule. */
export interface Barrier {
  text: string;
  rule: string;
  /** The earlier call with the same effect; absent for a limit. */
  repeats?: RepeatedCall;
}

/** Returns why limits or an earlier equal effect deny a call; `null` if they do not. */
export function barrierOf(bounds: Bounds, { limits, first }: Measured): Barrier | null {
  const [limit] = exceeded(bounds, limits).filter(({ bound }) => bound.over === null);
  if (limit !== undefined) {
    const { name, max } = limit.bound;
    const text = `denied by the limit ${name}: the call would exceed its maximum of ${max}`;
    return { text, rule: limitRule(name) };
  }
  const effect = deciding(bounds);
  if (effect?.repeat !== 'deny' || first === null) return null;
  const { callId, taskId, key, outcome } = first;
  const text = `denied as a repeat: call ${callId} of task ${taskId} has the same effect ${effect.key}, and its outcome is ${outcome}`;
  return { text, rule: effectRule(effect.name), repeats: { callId, taskId, key, outcome } };
}

/**
 * Returns whether a caller may receive the result of an earlier call with the same effect: it has the same arguments, and the
 * same caller requested it.
 */
export function isJoinable(
  { call, requester }: Pick<MeasureInput, 'call' | 'requester'>,
  first: FirstEffect,
): boolean {
  const [one, other] = [requester, first.requester];
  const isSameCaller =
    one?.provider === other?.provider &&
    one?.userId === other?.userId &&
    one?.orgId === other?.orgId;
  return isSameCaller && call.argsSha256 === first.argsSha256;
}

/** Returns the earlier call whose result the caller receives instead; `null` if the call runs or people are asked. */
export function joinedBy(
  asking: Pick<MeasureInput, 'call' | 'requester'>,
  bounds: Bounds,
  { first }: Measured,
): (FirstEffect & { result: string }) | null {
  if (deciding(bounds)?.repeat !== 'join' || first === null || !isJoinable(asking, first))
    return null;
  const { result } = first;
  return result === undefined || first.outcome !== 'succeeded' ? null : { ...first, result };
}

/** Returns what the approvers of a held call saw of its limits and of an earlier equal effect. */
function seenBy({ limits = [], first }: Deferral): SeenBounds {
  const over = limits.filter(({ isOver }) => isOver).map(seenLimit);
  return { limits: over, first: first?.callId ?? null };
}

/** Identifies a limit as an approver saw it: another value that it counts apart, or another maximum, was not seen. */
export function seenLimit({ name, key, max }: Pick<MeasuredLimit, 'name' | 'key' | 'max'>): string {
  return JSON.stringify([name, key, max]);
}

/** True if a person must see that the call is over a limit, or repeats an effect, before it may run. */
export function needsPerson(bounds: Bounds, { limits, first }: Measured): boolean {
  return exceeded(bounds, limits).length > 0 || (first !== null && deciding(bounds) !== null);
}

/**
 * Returns the rules of a call with those for calls over a limit, and for repeats. The targets are those of the first limit that it
 * exceeds; only approvers of each limit may decide.
 */
export function tightenedByBounds<Rules extends Pick<ToolRules, 'defer' | 'names'>>(
  rules: Rules,
  bounds: Bounds,
  { limits, first }: Pick<Measured, 'limits' | 'first'>,
): Rules {
  const effect = deciding(bounds);
  const over = exceeded(bounds, limits).flatMap(({ bound: { name, over: rule } }) =>
    rule === null ? [] : [{ name: limitRule(name), rule }],
  );
  const repeated =
    effect === null || first === null ? [] : [{ name: effectRule(effect.name), rule: effect.over }];
  const [leading = repeated[0]] = over;
  if (leading === undefined) return rules;
  const ofLimits = over.map(({ rule }) => rule);
  const defer = [
    ...(ofLimits.length === 0 ? [] : [ofLimits.reduce(strictestOfBoth)]),
    ...repeated.map(({ rule }) => rule),
    ...(rules.defer === null ? [] : [rules.defer]),
  ].reduce(strictest);
  // The rule of the tool is named only if it holds the call too.
  const named = rules.defer === null ? undefined : rules.names?.defer;
  return { ...rules, defer, names: { ...rules.names, defer: named ?? leading.name } };
}

/** Returns the rules of a held call with those for the limits and the repeat that its approvers see. */
export function heldByBounds<Rules extends Pick<ToolRules, 'defer' | 'names'>>(
  rules: Rules,
  bounds: Bounds,
  deferral: Pick<Deferral, 'limits' | 'first'>,
): Rules {
  const { limits = [], first = null } = deferral;
  return tightenedByBounds(rules, bounds, { limits, first });
}

/**
 * Returns what the approvers of a held call saw, if their approvals are those that the limits and the effect in force demand. A
 * policy may have changed since; then people are asked again.
 */
export function seenUnder(
  rules: Pick<ToolRules, 'defer' | 'names'>,
  bounds: Bounds,
  { deferral, askers }: { deferral: Deferral; askers: readonly (PersonKey | null)[] },
): SeenBounds {
  const { defer } = heldByBounds(rules, bounds, deferral);
  return isShortOf(defer, deferral, askers) ? { limits: [], first: null } : seenBy(deferral);
}

/** Reports the limits that a call exceeds. Limits and effects in shadow only report what they would have decided. */
export function reachedFacts(
  call: ToolCall,
  bounds: Bounds,
  { limits, first }: Measured,
): TaskFact[] {
  const { tool } = call;
  const { effect } = bounds;
  const reached = over(bounds, limits).map(({ bound, measured }): TaskFact => {
    const decision = bound.over === null ? 'deny' : 'defer';
    return bound.isShadow === true
      ? { type: 'rule.shadowed', tool, rule: limitRule(bound.name), would: decision }
      : { type: 'limit.reached', call: markOfCall(call), tool, limit: measured, decision };
  });
  if (effect?.isShadow !== true || first === null) return reached;
  const would = effect.repeat === 'deny' ? 'deny' : 'defer';
  return [...reached, { type: 'rule.shadowed', tool, rule: effectRule(effect.name), would }];
}

/** Returns the effect of a call if it decides. */
function deciding({ effect }: Bounds): Bounds['effect'] {
  return effect?.isShadow === true ? null : effect;
}

/** Reports what a call that may run adds to its limits. */
export function reservedFacts(call: ToolCall, { limits, reserved }: Measured): TaskFact[] {
  const entries = limitEntries(reserved ?? []);
  if (entries.length === 0) return [];
  const exceeding = limits.filter(({ isOver }) => isOver).map(({ name }) => name);
  const { tool } = call;
  return [{ type: 'limit.reserved', call: markOfCall(call), tool, entries, over: exceeding }];
}

/** Returns the limits that a call exceeds and that decide. */
function exceeded(bounds: Bounds, limits: readonly MeasuredLimit[]) {
  return over(bounds, limits).filter(({ bound }) => bound.isShadow !== true);
}

function over({ limits: all }: Bounds, limits: readonly MeasuredLimit[]) {
  return all.flatMap((bound: CallLimit) => {
    const measured = limits.find(({ name, isOver }) => name === bound.name && isOver);
    return measured === undefined ? [] : [{ bound, measured }];
  });
}

function limitRule(name: string): string {
  return boundName('limits', name);
}

/** Returns the name of the rule on an effect. */
export function effectRule(name: string): string {
  return boundName('effects', name);
}
