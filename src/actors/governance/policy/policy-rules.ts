import type { Refusal } from '../../../machines/domain/finding.ts';
import type { Separation } from '../../../machines/domain/task.ts';
import type { Bounds, CallLimit } from '../../../machines/governance/bounds.ts';
import type { CallerReads } from '../../../machines/governance/caller-reads.ts';
import type { DeferRule } from '../../../machines/governance/defer-policy.ts';
import { deciders } from '../../../machines/governance/quorum.ts';
import { denialName, type RuleLayer, ruleName } from '../../../machines/governance/rule-name.ts';
import type { AppliedRule, ShadowedRule, ToolRules } from '../../../machines/governance/ruling.ts';
import { readEntry } from '../../../machines/governance/standing.ts';
import { strictest } from '../../../machines/governance/strictest.ts';
import type { KnownLimit } from '../../ports/ledger.ts';
import type { Tool } from '../../ports/tool.ts';
import { callerReads, readsCallOnly } from '../conditions/caller-reads.ts';
import type { CallFacts } from '../conditions/condition-input.ts';
import { limitsIn } from '../conditions/limit-reads.ts';
import type { DeniedTool } from '../guardrails/guardrails.ts';
import type { ModifyEntryPlace } from '../modify/modify.ts';
import type { PolicySettings } from '../settings/policy-settings.ts';
import type { HoldRule } from '../settings/schema-defer.ts';
import { covers, PolicyBounds } from './policy-bounds.ts';
import {
  byTool,
  type NamedRule,
  type RuledCall,
  RuleMatcher,
  type RulesOf,
  type RuleTerms,
} from './rule-lists.ts';
import { ruleTerms } from './rule-terms.ts';

/** What the rules of tools say of one call. */
export interface AppliedRules {
  refusal: Refusal | null;
  requiredAcr: string | null;
  defer: DeferRule | null;
  names: NonNullable<ToolRules['names']>;
  shadows: ShadowedRule[];
}

export interface PolicyRulesParts {
  security: PolicySettings;
  /** The value of `agent` in `by` of limits; empty when absent. */
  agentId?: string;
  isAuthOn: boolean;
  /** Keeps the programs that ask a gate from deciding; absent elsewhere, and without sign-in. */
  separation?: Separation | undefined;
  tools: ReadonlyMap<string, Tool>;
  /** Variables of the daemon that conditions may read. */
  environment: Readonly<Record<string, string | undefined>>;
  /** The file of an included policy, named with its rules; absent for the agent's own policy. */
  from?: string;
  /** Holds calls of tools that the agent does not list; absent if they need no approval, or are denied. */
  unlisted?: UnlistedRule | undefined;
}

/** The rule for tools that the agent does not list. */
export interface UnlistedRule {
  rule: HoldRule;
  /** Name of the rule in decisions and in the log. */
  name: string;
  /** Returns what is wrong with the name of a tool that the agent does not list; `null` for a listed one. */
  hintOf: (tool: string) => string | null;
}

/**
 * The rules of `security` that name tools: denied_tools, step_up, modify and defer. In each list the first rule that
 * applies counts. The list of a tool's own name and those of the patterns that match it all count; the strictest of
 * their rules decides (docs/contract/governance.md).
 */
export class PolicyRules {
  readonly #matcher: RuleMatcher;
  readonly #settings: PolicySettings;
  readonly #isAuthOn: boolean;
  readonly #separation: Separation | undefined;
  readonly #unlisted: UnlistedRule | undefined;
  readonly #denied: RulesOf<DeniedTool>;
  readonly #stepUp: RulesOf<{ acr: string } & RuleTerms>;
  readonly #modify: RulesOf<RuleTerms>;
  readonly #defer: RulesOf<Deferring>;
  /** Tools with a condition that reads `history`. */
  readonly readsHistory: (tool: string) => boolean;
  /** What conditions read of a requester. */
  readonly callerReads: CallerReads;
  /** Tools with a condition, or with limits or effects by which a call may be held. */
  readonly isConditional: (tool: string) => boolean;
  readonly #mayVary: (tool: string) => boolean;
  readonly #limitsReadBy: RulesOf<{ when?: string | undefined }>;
  readonly #bounds: PolicyBounds;

  constructor({ security, agentId = '', isAuthOn, separation, ...parts }: PolicyRulesParts) {
    const { tools, environment, from, unlisted } = parts;
    const { guardrails, step_up, modify, defer, policy } = security;
    const isShadow = policy.mode === 'shadow';
    this.#settings = security;
    this.#isAuthOn = isAuthOn;
    this.#separation = separation;
    this.#unlisted = unlisted;
    const { limits } = security;
    const named = Object.keys(limits).map((name) => [name, nameIn(from, name)] as const);
    this.#matcher = new RuleMatcher({ environment, tools, isShadow, limits: new Map(named) });
    this.#bounds = new PolicyBounds({
      ...{ security, agentId },
      matcher: new RuleMatcher({ environment, tools, isShadow }),
      nameOf: (name) => nameIn(from, name),
      holdOf: (call, facts) => this.deferOf(call, facts).rule,
      deferRule: (rule, approvers) => this.#deferRule(rule, approvers),
    });
    const denied = deniedRules(guardrails.enabled ? guardrails.denied_tools : [], from);
    const steps = listed('step_up', step_up, from);
    const modified = listed('modify', modify, from);
    const deferred = listed<Deferring>('defer', defer, from);
    this.#denied = byTool(denied);
    this.#stepUp = byTool(steps);
    this.#modify = byTool(modified);
    this.#defer = byTool(deferred);
    const conditional: NamedRule<{ when?: string | undefined }>[] = [
      ...[denied, steps, modified, deferred].flat(),
    ].filter(({ rule }) => rule.when !== undefined);
    const bounding = Object.values(limits).map(({ tools: counted, when, by }) => ({
      tools: counted,
      expressions: [...(when === undefined ? [] : [when]), ...by],
    }));
    const read = callerReads([
      ...conditional.flatMap(({ rule: { when } }) => when ?? []),
      ...bounding.flatMap(({ expressions }) => expressions),
    ]);
    this.callerReads = withEntries(read, approversIn(security));
    const hasCondition = hasRule(conditional);
    this.isConditional = (tool) => hasCondition(tool) || this.#bounds.mayHold(tool);
    const hasHistory = hasRule(conditional.filter(({ rule }) => readsHistory(rule.when ?? '')));
    const counting = bounding.filter(({ expressions }) => expressions.some(readsHistory));
    this.readsHistory = (tool) => hasHistory(tool) || counting.some((limit) => covers(limit, tool));
    this.#limitsReadBy = byTool(
      conditional.filter(({ rule: { when = '' } }) => limitsIn(when).length > 0),
    );
    const all: NamedRule<RuleTerms>[] = [denied, steps, modified, deferred].flat();
    this.#mayVary = hasRule(
      all.filter(
        ({ rule: { when, shadow } }) =>
          isShadow || shadow || !(when === undefined || readsCallOnly(when)),
      ),
    );
  }

  /** True if calls of a tool may have a limit or an effect. */
  isBounded(tool: string): boolean {
    return this.#bounds.apply(tool);
  }

  /** True if every rule of a tool decides by its arguments alone, and none only reports. */
  isFixed(tool: string): boolean {
    return !this.#mayVary(tool) && !this.#bounds.apply(tool);
  }

  /** The limits, as their standing depends on them. */
  get limits(): KnownLimit[] {
    return this.#bounds.limits;
  }

  /** Returns the limits and the effect of a call; `null` if it has none. */
  boundsOf(call: RuledCall, facts: CallFacts): Bounds | null {
    return this.#bounds.of(call, facts);
  }

  /** Returns the limits that conditions on a call read. */
  limitsReadBy(call: RuledCall, facts: CallFacts): CallLimit[] {
    const names = this.#limitsReadBy(call.tool)
      .flat()
      .flatMap(({ rule: { when = '' } }) => limitsIn(when));
    return names.length === 0 ? [] : this.#bounds.read(names, call, facts);
  }

  /** Returns the rules for a call, without guardrail patterns. */
  of(call: RuledCall, facts: CallFacts): AppliedRules {
    const shadows: ShadowedRule[] = [];
    const would = () => 'step_up' as const;
    const steps = this.#stepUp(call.tool).map((rules) =>
      // Without a hierarchy, the last rule is the one whose condition holds.
      this.#highest(this.#matcher.applying(rules, call, { facts, shadows, would }).toReversed()),
    );
    const stepUp = this.#highest(steps.filter((step) => step !== null));
    const { rule: defer, name } = this.deferOf(call, facts, shadows);
    return {
      refusal: this.#refusalOf(call, { facts, shadows }),
      requiredAcr: stepUp?.rule.acr ?? null,
      defer,
      names: {
        ...(stepUp === null || stepUp.isPlain ? {} : { assurance: stepUp.name }),
        ...(name === null ? {} : { defer: name }),
      },
      shadows,
    };
  }

  /**
   * Returns the defer rule for a call and its name; `null` if the call needs no approval. Only `allow: true` of the tool's
   * own name lets a call pass that a pattern holds.
   */
  deferOf(call: RuledCall, facts: CallFacts, shadows: ShadowedRule[] = []): AppliedRule {
    const would = (rule: Deferring) => ('allow' in rule ? ('allow' as const) : ('defer' as const));
    const [named = [], ...patterns] = this.#defer(call.tool);
    const own = this.#matcher.applying(named, call, { facts, shadows, would });
    const isAllowed = own[0] !== undefined && 'allow' in own[0].rule;
    const found = isAllowed
      ? own
      : [
          ...own,
          ...patterns.flatMap((rules) =>
            this.#matcher.applying(rules, call, { facts, shadows, would }),
          ),
        ];
    const holding = found.filter(({ rule }) => !('allow' in rule));
    const first = holding[0] ?? found[0];
    if (first === undefined) return this.#ofUnlisted(call.tool);
    const [rule = null, ...others] = holding.flatMap((each) =>
      'allow' in each.rule ? [] : [this.#deferRule(each.rule)],
    );
    return {
      rule: rule && others.reduce(strictest, rule),
      name: first.isPlain ? null : first.name,
    };
  }

  /** Returns the MODIFY entries that apply to a call, in their order. */
  modifyEntriesOf(call: RuledCall, facts: CallFacts): ModifyEntryPlace[] {
    const would = () => 'modify' as const;
    return this.#modify(call.tool).flatMap((rules) =>
      this.#matcher
        .applying(rules, call, { facts, shadows: [], would })
        .map(({ tool, index }) => ({ tool, index })),
    );
  }

  /** True if MODIFY has an entry for the tool, under any condition. */
  mayModify(tool: string): boolean {
    return this.#modify(tool).some((entries) => entries.length > 0);
  }

  /** Returns whether a condition holds for a call, or why it cannot be evaluated for the tool. */
  holds(when: string, call: RuledCall, facts: CallFacts): boolean | string {
    return this.#matcher.holds(when, call, facts);
  }

  /** True if a rule, a limit or an effect of the tool holds calls, under any condition. */
  mayHold(tool: string): boolean {
    const isHeld = this.#defer(tool)
      .flat()
      .some(({ rule }) => !('allow' in rule) && !rule.shadow);
    return isHeld || this.#bounds.mayHold(tool);
  }

  /** Returns the rule with the highest level; of equal or unknown levels the first. */
  #highest<Rule extends { acr: string }>(rules: readonly NamedRule<Rule>[]) {
    const { acr_hierarchy: hierarchy } = this.#settings.step_up;
    const rank = ({ rule }: NamedRule<Rule>) => hierarchy.indexOf(rule.acr);
    return rules.reduce<NamedRule<Rule> | null>(
      (highest, each) => (highest === null || rank(each) > rank(highest) ? each : highest),
      null,
    );
  }

  #refusalOf(
    call: RuledCall,
    { facts, shadows }: { facts: CallFacts; shadows: ShadowedRule[] },
  ): Refusal | null {
    const would = () => 'deny' as const;
    const [found] = this.#denied(call.tool).flatMap((rules) =>
      this.#matcher.applying(rules, call, { facts, shadows, would }),
    );
    if (found === undefined) return null;
    const { rule, name } = found;
    const text = `denied by guardrail: ${rule.message ?? `${call.tool} is a denied tool`}`;
    const gate = 'denied_tools';
    const finding = { gate, decision: 'deny', rule: name.replace('guardrails.', '') } as const;
    return { text, findings: [finding], rule: name };
  }

  #ofUnlisted(tool: string): { rule: DeferRule | null; name: string | null } {
    const hint = this.#unlisted?.hintOf(tool) ?? null;
    if (this.#unlisted === undefined || hint === null) return { rule: null, name: null };
    const { rule, name } = this.#unlisted;
    return { rule: { ...this.#deferRule(rule), hint }, name };
  }

  /** `approvers` replace the default approvers. */
  #deferRule(
    rule: HoldRule,
    approvers: readonly string[] = this.#settings.defer.default_approvers,
  ): DeferRule {
    const { defer } = this.#settings;
    return {
      ...ruleTerms(rule, { ...defer, default_approvers: [...approvers] }),
      to: rule.to,
      contextTemplate: rule.context_template,
      remind: rule.remind,
      ...(this.#separation === undefined ? {} : { separation: this.#separation }),
      distinctCallers: this.#isAuthOn,
    };
  }
}

type Deferring = PolicySettings['defer']['tools'][string][number];

function readsHistory(expression: string): boolean {
  return /\bhistory\b/.test(expression);
}

/** Returns every entry of the approver lists. */
function approversIn({ defer, limits, effects }: PolicySettings): string[] {
  const holding = Object.values(defer.enabled ? defer.tools : {})
    .flat()
    .flatMap((rule) => ('allow' in rule ? [] : [rule]));
  return [...holding, ...Object.values(limits), ...Object.values(effects)].flatMap(
    (rule) => deciders(rule, defer.default_approvers).approvers ?? [],
  );
}

/** Lists of approvers and callers read the groups and claims that they name. */
export function withEntries(
  { groups, claims }: CallerReads,
  listed: readonly string[],
): CallerReads {
  const entries = listed.flatMap((entry) => readEntry(entry) ?? []);
  const named = entries.flatMap(({ kind, name }) => (kind === 'claim' ? [name] : []));
  return {
    groups: groups || entries.some(({ kind }) => kind === 'group'),
    claims: claims.union(new Set(named)),
  };
}

/** Rules without a condition are compiled with the other guardrails. */
function deniedRules(
  denied: readonly (string | DeniedTool)[],
  from: string | undefined,
): NamedRule<DeniedTool>[] {
  return denied.flatMap((rule, index) => {
    if (typeof rule === 'string' || (rule.when === undefined && !rule.shadow)) return [];
    return [{ tool: rule.tool, name: nameIn(from, denialName(index)), rule, index }];
  });
}

function listed<Rule extends RuleTerms>(
  layer: RuleLayer,
  { enabled, tools }: { enabled: boolean; tools: Readonly<Record<string, readonly Rule[]>> },
  from: string | undefined,
): NamedRule<Rule>[] {
  return Object.entries(enabled ? tools : {}).flatMap(([tool, rules]) =>
    rules.map((rule, index) => {
      const isAlone = rules.length === 1;
      const name = nameIn(from, ruleName(layer, tool, { index, isAlone }));
      const isPlain = isAlone && rule.when === undefined && from === undefined;
      return { tool, rule, name, index, isPlain };
    }),
  );
}

/** Returns the name of a rule with its file, such as `shared/payments.yaml#defer.tools.pay`. */
function nameIn(from: string | undefined, name: string): string {
  return from === undefined ? name : `${from}#${name}`;
}

/** Returns whether a tool has one of the rules. */
function hasRule<Rule>(rules: readonly NamedRule<Rule>[]): (tool: string) => boolean {
  const rulesOf = byTool(rules);
  return (tool) => rulesOf(tool).some((list) => list.length > 0);
}
