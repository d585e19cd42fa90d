import type { LimitPeriod } from '../../../machines/domain/ledger.ts';
import { decimalOf } from '../../../machines/exact-decimal.ts';
import { argumentAt } from '../../../machines/governance/argument-at.ts';
import type { Bounds, CallEffect, CallLimit } from '../../../machines/governance/bounds.ts';
import type { DeferRule } from '../../../machines/governance/defer-policy.ts';
import { valuesOfKey } from '../../../machines/governance/limit-standing.ts';
import { strictest } from '../../../machines/governance/strictest.ts';
import type { JsonValue } from '../../../machines/json.ts';
import type { KnownLimit } from '../../ports/ledger.ts';
import { matchesName, normalName, ToolMap } from '../../tool-name.ts';
import type { CallFacts } from '../conditions/condition-input.ts';
import type { PolicySettings } from '../settings/policy-settings.ts';
import type { HoldRule } from '../settings/schema-defer.ts';
import {
  type EffectRule,
  holdOfBound,
  type LimitRule,
  targetOfRepeats,
} from '../settings/schema-limits.ts';
import { effectKey, limitKey, normalText } from './bound-keys.ts';
import type { RuledCall, RuleMatcher } from './rule-lists.ts';

export interface PolicyBoundsParts {
  security: PolicySettings;
  /** The value of `agent` in `by`. */
  agentId: string;
  /** Evaluates the conditions of limits, which cannot read limits. */
  matcher: RuleMatcher;
  /** Returns the name of a limit or an effect in the ledger. */
  nameOf: (name: string) => string;
  /** Returns how a call is held without limits and effects. */
  holdOf: (call: RuledCall, facts: CallFacts) => DeferRule | null;
  deferRule: (rule: HoldRule, approvers?: readonly string[]) => DeferRule;
}

interface Named<Rule> {
  name: string;
  rule: Rule;
}

/** The limits and effects of `security` for single calls (docs/contract/governance.md). */
export class PolicyBounds {
  readonly #parts: PolicyBoundsParts;
  /** Sorted by name: of two limits that a call exceeds, the first one's targets are asked. */
  readonly #limits: readonly Named<LimitRule>[];
  readonly #effects: ToolMap<Named<EffectRule>>;
  readonly #isShadow: boolean;

  constructor(parts: PolicyBoundsParts) {
    const { limits, effects, policy } = parts.security;
    this.#parts = parts;
    this.#isShadow = policy.mode === 'shadow';
    this.#limits = Object.entries(limits)
      .map(([name, rule]) => ({ name, rule }))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
    this.#effects = new ToolMap(
      Object.entries(effects).map(([name, rule]) => [name, { name, rule }]),
    );
  }

  /** The limits, as their standing depends on them. */
  get limits(): KnownLimit[] {
    return this.#limits.map(({ name, rule: { per, max } }) => ({
      name: this.#parts.nameOf(name),
      period: periodOf(per),
      max,
    }));
  }

  /** Returns the limits and the effect of a call; `null` if it has none. */
  of(call: RuledCall, facts: CallFacts): Bounds | null {
    const counting = this.#limits.filter(({ rule }) => covers(rule, call.tool));
    const effect = this.#effects.get(call.tool);
    if (counting.length === 0 && effect === undefined) return null;
    const asked = { facts, hold: this.#parts.holdOf(call, facts) };
    const limits = counting.flatMap((limit) => this.#limitOf(limit, call, asked) ?? []);
    if (limits.length === 0 && effect === undefined) return null;
    return { limits, effect: effect === undefined ? null : this.#effectOf(effect, call, asked) };
  }

  /** Returns named limits for a call that need not count for them, to read what is left; those without a key are absent. */
  read(names: readonly string[], call: RuledCall, facts: CallFacts): CallLimit[] {
    return this.#limits
      .filter(({ name }) => names.includes(name))
      .flatMap((limit) => {
        const by = this.#valuesOf(limit.rule, call, facts);
        return isKnown(by) ? [this.#callLimit(limit, { by, amount: '0', facts, hold: null })] : [];
      });
  }

  /** True if calls of a tool may have a limit or an effect. */
  apply(tool: string): boolean {
    return (
      this.#effects.get(tool) !== undefined || this.#limits.some(({ rule }) => covers(rule, tool))
    );
  }

  /** True if a limit or an effect may hold calls of a tool. */
  mayHold(tool: string): boolean {
    const isHolding = ({ rule: { over, shadow, ...rule } }: Named<LimitRule>) =>
      over === 'defer' && !shadow && covers(rule, tool);
    const effect = this.#effects.get(tool)?.rule;
    const isAsking = effect !== undefined && effect.repeat !== 'deny' && !effect.shadow;
    return isAsking || this.#limits.some(isHolding);
  }

  #limitOf(limit: Named<LimitRule>, call: RuledCall, asked: Asked): CallLimit | null {
    const { facts } = asked;
    const { when, amount: path } = limit.rule;
    const { matcher } = this.#parts;
    // A program may obey another argument than the one that the limit reads.
    const isReadable = !readsArguments(limit.rule) || matcher.namesArgumentsOf(call);
    const holds = when === undefined || matcher.holds(when, call, facts);
    if (holds === false && isReadable) return null;
    const by = this.#valuesOf(limit.rule, call, facts);
    const isMeasurable = holds === true && isReadable && isKnown(by);
    const amount = isMeasurable ? amountIn(call, path) : null;
    return this.#callLimit(limit, { by, amount, ...asked });
  }

  #callLimit(
    { name, rule }: Named<LimitRule>,
    { by, amount, facts, hold }: { by: Values; amount: string | null } & Asked,
  ): CallLimit {
    const { per, max, over } = rule;
    const key = limitKey(by);
    return {
      name: this.#parts.nameOf(name),
      key,
      by: valuesOfKey(key, facts.requester),
      period: periodOf(per),
      max,
      amount,
      over: over === 'deny' ? null : shownBy(this.#deferRule(rule, rule.to ?? []), rule, hold),
      ...(this.#isShadow || rule.shadow ? { isShadow: true } : {}),
    };
  }

  #effectOf({ name, rule }: Named<EffectRule>, call: RuledCall, { hold }: Asked): CallEffect {
    return {
      name: this.#parts.nameOf(name),
      key: effectKey(rule.key, call),
      repeat: rule.repeat,
      within: rule.within ?? null,
      over: shownBy(this.#holdOfRepeat(rule, hold), rule, hold),
      ...(rule.reconcile === undefined ? {} : { reconcile: rule.reconcile }),
      ...(this.#isShadow || rule.shadow ? { isShadow: true } : {}),
    };
  }

  /** A repeat without its own target is held by the rule of its tool, with the demands of the effect. */
  #holdOfRepeat(rule: EffectRule, hold: DeferRule | null): DeferRule {
    if (rule.to !== undefined || hold === null) {
      return this.#deferRule(rule, rule.to ?? [targetOfRepeats]);
    }
    return strictest(hold, this.#parts.deferRule(holdOfBound(rule, hold), []));
  }

  #deferRule(rule: LimitRule | EffectRule, to: readonly string[]): DeferRule {
    const { default_timeout: timeout } = this.#parts.security.defer;
    return this.#parts.deferRule(holdOfBound(rule, { to, timeout }));
  }

  #valuesOf({ by }: LimitRule, call: RuledCall, facts: CallFacts): Values {
    return by.map((name) => [name, this.#valueOf(name, call, facts)] as const);
  }

  /** Returns a value that is counted apart: `null` if the call has none, `undefined` if that is not known. */
  #valueOf(name: string, call: RuledCall, facts: CallFacts): JsonValue | undefined {
    const { requester, task } = facts;
    switch (name) {
      case 'caller':
        return requester === null ? null : [requester.provider, requester.userId];
      case 'org':
        return requester?.orgId ?? null;
      case 'session':
        return task.session === '' ? null : task.session;
      case 'agent':
        return this.#parts.agentId;
      case 'tool':
        return normalName(call.tool);
      default:
        return this.#normalValueOf(name, call, facts);
    }
  }

  /** A model may write the value, and could begin at zero with another form of it. */
  #normalValueOf(expression: string, call: RuledCall, facts: CallFacts): string | undefined {
    const text = this.#parts.matcher.text(expression, call, facts);
    return text === null ? undefined : normalText(text);
  }
}

/** What is known of a call, and how it is held without limits and effects. */
interface Asked {
  facts: CallFacts;
  hold: DeferRule | null;
}

/** Approvers see the call as the rule of its tool shows it, unless the limit or the effect states another form. */
function shownBy(
  over: DeferRule,
  { context_template: template, display }: LimitRule | EffectRule,
  hold: DeferRule | null,
): DeferRule {
  if (hold === null) return over;
  const { display: usual } = hold;
  return {
    ...over,
    contextTemplate: template ?? hold.contextTemplate,
    ...(display === undefined && usual !== undefined ? { display: usual } : {}),
  };
}

type Values = readonly (readonly [name: string, value: JsonValue | undefined])[];

function periodOf(per: LimitRule['per']): LimitPeriod {
  return typeof per === 'number' ? { rolling: per } : per;
}

function isKnown(by: Values): boolean {
  return by.every(([, value]) => value !== undefined);
}

/** Returns whether a limit counts the calls of a tool. */
export function covers({ tools }: Pick<LimitRule, 'tools'>, tool: string): boolean {
  return tools.some((pattern) => matchesName(pattern, tool));
}

/** Returns whether a limit reads arguments of the calls that it counts. */
function readsArguments({ when, amount, by }: LimitRule): boolean {
  return [when, amount, ...by].some((expression) => /\bargs\b/.test(expression ?? ''));
}

/** Returns what a call adds to a limit; `null` if it has no exact amount. */
function amountIn({ args }: RuledCall, path: string | undefined): string | null {
  return path === undefined ? '1' : decimalOf(argumentAt(args, path.split('.').slice(1)));
}
