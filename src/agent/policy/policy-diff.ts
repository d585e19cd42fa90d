import { isDeepStrictEqual } from 'node:util';
import {
  placedDenials,
  placedEffects,
  placedLimits,
  placedRules,
  type ServiceConfig,
} from '../../actors/config/config.ts';
import {
  type EffectRule,
  holdOfBound,
  type LimitRule,
  ruleTerms,
  targetOfRepeats,
} from '../../actors/governance/governance.ts';
import { matchesName, matchesPrefix } from '../../actors/tool-name.ts';
import type { WaitTerms } from '../../machines/domain/task.ts';
import { comparedTerms, stricterValue } from '../../machines/governance/stricter-terms.ts';
import { isJsonObject, type JsonValue } from '../../machines/json.ts';

export type ComparedPolicy = Pick<ServiceConfig, 'security' | 'included' | 'gate'>;

type Security = ServiceConfig['security'];
type Hold = Exclude<Security['defer']['tools'][string][number], { allow: true }>;

/** A difference between two policies. */
export interface PolicyChange {
  /** Name of the rule or setting, such as `defer.tools.pay[1]`, with the file of an included policy. */
  name: string;
  change: 'added' | 'removed' | 'changed';
  effect: 'tighter' | 'looser' | MayBeLooser;
  before?: JsonValue;
  after?: JsonValue;
  /** The tool or pattern of a rule; absent for a setting. */
  tool?: string;
  /** True if the two differ in their condition alone, so that evaluated calls can show the effect. */
  isConditionOnly?: true;
}

/** The effect of two that cannot be compared without a call. */
type MayBeLooser = 'may be looser';

/** A rule or setting that has an effect. */
interface Part {
  value: JsonValue;
  /** Its effect on calls: it restricts them, lets them pass, or changes them. */
  kind: 'restricts' | 'releases' | 'changes';
  /** Compares it with a later version, by demands of which more is tighter. */
  demands?: Readonly<Record<string, number | readonly string[]>>;
  /** The terms of a rule that holds calls. */
  terms?: WaitTerms;
  /** The targets; holds that differ in them cannot be compared. */
  scope?: string;
  /** The condition of a rule; absent for a rule that always applies. */
  when?: string | undefined;
  tool?: string;
  /** True for a rule that another one follows in its list, which it hides, or that meets one of another name or pattern. */
  meetsOthers?: boolean;
}

/** Lists the rules and settings that differ between two policies. Rules in shadow and of layers that are off count as absent. */
export function diffPolicies(before: ComparedPolicy, after: ComparedPolicy): PolicyChange[] {
  const [old, now] = [partsOf(before), partsOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const changes = names.flatMap((name): PolicyChange[] => {
    const [one, other] = [old.get(name), now.get(name)];
    const { tool } = one ?? other ?? {};
    const named = { name, ...(tool === undefined ? {} : { tool }) };
    if (one === undefined && other !== undefined) {
      return [{ ...named, change: 'added', effect: effectOfAdding(other), after: other.value }];
    }
    if (one !== undefined && other === undefined) {
      return [{ ...named, change: 'removed', effect: effectOfRemoving(one), before: one.value }];
    }
    if (one === undefined || other === undefined) return [];
    if (isDeepStrictEqual(one.value, other.value)) return [];
    const values = { before: one.value, after: other.value };
    const isConditionOnly = isDeepStrictEqual(unconditional(one), unconditional(other));
    return [
      {
        ...{ ...named, change: 'changed', effect: changeOf(one, other), ...values },
        ...(isConditionOnly ? { isConditionOnly } : {}),
      },
    ];
  });
  return [...changes, ...orderChanges(before, after)];
}

const layers = ['step_up', 'modify', 'defer'] as const;

/** Lists the layers whose patterns have another order, which decides between rules that apply to one call. */
function orderChanges(before: ComparedPolicy, after: ComparedPolicy): PolicyChange[] {
  const [old, now] = [patternsOf(before), patternsOf(after)];
  return [...old].flatMap(([name, patterns]): PolicyChange[] => {
    const others = now.get(name) ?? [];
    const isMet = (one: string) =>
      [patterns, others].every((list) => list.some((each) => each !== one && mayMeet(each, one)));
    const [from, to] = [
      patterns.filter((one) => others.includes(one) && isMet(one)),
      others.filter((one) => patterns.includes(one) && isMet(one)),
    ];
    if (isDeepStrictEqual(from, to)) return [];
    return [{ name, change: 'changed', effect: mayBeLooser, before: from, after: to }];
  });
}

/** Returns the patterns of each layer in their order. */
export function patternsOf({
  security,
  included = [],
}: Pick<ComparedPolicy, 'security' | 'included'>): Map<string, string[]> {
  const places = [
    { from: '', rules: security },
    ...included.map(({ file, security: rules }) => ({ from: `${file}#`, rules })),
  ];
  return new Map(
    places.flatMap(({ from, rules }) =>
      [
        ...layers.map((layer) => {
          const { enabled, tools } = rules[layer];
          return [`${layer}.tools`, Object.keys(enabled ? tools : {})] as const;
        }),
        ['effects', Object.keys(rules.effects)] as const,
      ].map(([name, tools]) => [from + name, tools.filter((one) => one.includes('*'))]),
    ),
  );
}

/** Returns whether two names or patterns may match one tool. */
function mayMeet(one: string, other: string): boolean {
  if (!one.includes('*') || !other.includes('*')) {
    return matchesName(one, other) || matchesName(other, one);
  }
  return matchesPrefix(one, other.slice(0, other.indexOf('*')));
}

function unconditional({ value }: Part): JsonValue {
  return isJsonObject(value) ? { ...value, when: null } : value;
}

/** A rule that restricts may hide stricter ones, and its approvers and targets may replace those of others. */
function effectOfAdding({ kind, meetsOthers }: Part): PolicyChange['effect'] {
  if (kind === 'releases') return 'looser';
  return kind === 'restricts' && meetsOthers !== true ? 'tighter' : mayBeLooser;
}

/** Calls that a removed `allow: true` let pass may meet no other rule, and then run as before. */
function effectOfRemoving({ kind }: Part): PolicyChange['effect'] {
  if (kind === 'changes') return mayBeLooser;
  return kind === 'restricts' ? 'looser' : 'tighter';
}

function changeOf(before: Part, after: Part): PolicyChange['effect'] {
  if (before.kind === 'restricts' && after.kind === 'releases') return 'looser';
  const condition = conditionChange(before, after);
  if (before.kind !== after.kind) return condition === 'same' ? 'tighter' : mayBeLooser;
  if (before.kind === 'releases') return condition === 'same' ? mayBeLooser : condition;
  const ways = [...new Set([condition, ...demandChanges(before, after)])].filter(
    (way) => way !== 'same',
  );
  const [way = mayBeLooser, ...others] = ways;
  return others.length > 0 ? mayBeLooser : way;
}

type Way = PolicyChange['effect'] | 'same';

/** A rule that restricts is tighter without a condition; one that lets calls pass is looser. */
function conditionChange(before: Part, after: Part): Way {
  if (before.when === after.when) return 'same';
  if (before.when !== undefined && after.when !== undefined) return mayBeLooser;
  const isWider = after.when === undefined;
  if (after.kind === 'releases') return isWider ? 'looser' : 'tighter';
  if (isWider) return after.meetsOthers === true ? mayBeLooser : 'tighter';
  return 'looser';
}

function demandChanges({ demands: old, terms, scope }: Part, after: Part): Way[] {
  const { demands: now } = after;
  if (old === undefined || now === undefined) {
    return [mayBeLooser];
  }
  return [
    scope === after.scope ? 'same' : mayBeLooser,
    ...[...new Set([...Object.keys(old), ...Object.keys(now)])].map((key) =>
      demandChange(old[key], now[key]),
    ),
    ...(terms === undefined || after.terms === undefined ? [] : termChanges(terms, after.terms)),
  ];
}

/** A term is tighter if it equals the value that is as strict as both. */
function termChanges(before: WaitTerms, after: WaitTerms): Way[] {
  return comparedTerms.map((term) => {
    const both = stricterValue(term, before, after);
    const [isOld, isNew] = [before, after].map((terms) => isDeepStrictEqual(terms[term], both));
    if (isOld && isNew) return 'same';
    return isNew ? 'tighter' : isOld ? 'looser' : mayBeLooser;
  });
}

const mayBeLooser: MayBeLooser = 'may be looser';

type Demand = number | readonly string[] | undefined;

/** A list is tighter if it is a part of the other one, or if there was none. */
function demandChange(before: Demand, after: Demand): Way {
  if (typeof before === 'number' && typeof after === 'number') {
    return before === after ? 'same' : after > before ? 'tighter' : 'looser';
  }
  if (before === undefined && after !== undefined) return 'tighter';
  if (before !== undefined && after === undefined) return 'looser';
  if (typeof before !== 'object' || typeof after !== 'object') return mayBeLooser;
  const isPart = after.every((each) => before.includes(each));
  const isWhole = before.every((each) => after.includes(each));
  if (isPart && isWhole) return 'same';
  return isPart ? 'tighter' : isWhole ? 'looser' : mayBeLooser;
}

function partsOf({ security, included = [], gate }: ComparedPolicy): Map<string, Part> {
  const own = [...partsIn(security), ...(gate === undefined ? [] : gateParts(gate))];
  const others = included.flatMap(({ file, security: theirs }) =>
    partsIn(theirs).map(([name, part]) => [`${file}#${name}`, part] as const),
  );
  return new Map([...own, ...others]);
}

function partsIn(security: Security): [string, Part][] {
  const { guardrails, step_up: stepUp, modify, defer, policy } = security;
  const isShadow = policy.mode === 'shadow';
  const isOn = ({ rule }: { rule: { shadow: boolean } }) => !isShadow && !rule.shadow;
  const { acr_hierarchy: order } = stepUp;
  return [
    ...(guardrails.enabled ? patternsIn(guardrails) : []),
    ...placedDenials(guardrails.enabled ? guardrails : { denied_tools: [] })
      .filter(isOn)
      // The place in the list of denials decides nothing.
      .map(({ tool, rule }): [string, Part] => [
        `guardrails.denied_tools ${tool} ${rule.when ?? ''}`.trim(),
        { value: json(rule), kind: 'restricts', tool },
      ]),
    ...placedRules('step_up', stepUp.enabled ? stepUp.tools : {})
      .filter(isOn)
      .map(({ name, rule, tool }, index, all): [string, Part] => [
        name,
        {
          ...{ value: json(rule), kind: 'restricts', tool, when: rule.when },
          ...(order.includes(rule.acr) ? { demands: { acr: order.indexOf(rule.acr) } } : {}),
          meetsOthers: isMet(tool, index, all),
        },
      ]),
    ...placedRules('modify', modify.enabled ? modify.tools : {})
      .filter(isOn)
      .map(({ name, rule, tool }): [string, Part] => [
        name,
        { value: json(rule), kind: 'changes', tool, when: rule.when },
      ]),
    ...placedRules('defer', defer.enabled ? defer.tools : {})
      .filter(isOn)
      .map(({ name, rule, tool }, index, all): [string, Part] => [
        name,
        {
          ...{ tool, when: rule.when, meetsOthers: isMet(tool, index, all) },
          ...('allow' in rule
            ? { kind: 'releases', value: json(rule) }
            : { kind: 'restricts', ...holdParts(rule, defer, isMet(tool, index, all)) }),
        },
      ]),
    ...placedLimits(security)
      .filter(isOn)
      .map(({ name, rule }): [string, Part] => [name, limitPart(rule, defer)]),
    ...placedEffects(security)
      .filter(isOn)
      .map(({ name, rule, tools: [tool = ''] }): [string, Part] => [
        name,
        { ...effectPart(rule, defer), tool },
      ]),
    ...settingsIn(security),
  ];
}

/** A limit is tighter with a lower maximum, a longer period and more tools. */
function limitPart(rule: LimitRule, defer: Security['defer']): Part {
  const { tools, when, amount, by, per, max, over, to = [] } = rule;
  const hold = holdParts(holdOfBound(rule, { to, timeout: defer.default_timeout }), defer, true);
  const isDenial = over === 'deny';
  return {
    ...{ value: json(rule), kind: 'restricts', when },
    ...(isDenial ? {} : { terms: hold.terms }),
    demands: {
      ...(isDenial ? {} : hold.demands),
      ...Object.fromEntries(tools.map((tool) => [`tool ${tool}`, 1])),
      max: -Number(max),
      over: Number(isDenial),
      ...(typeof per === 'number' ? { per } : {}),
    },
    scope: JSON.stringify([
      ...[amount, by.toSorted(), typeof per === 'number' ? 'rolling' : per],
      isDenial ? null : hold.scope,
    ]),
  };
}

function effectPart(rule: EffectRule, defer: Security['defer']): Part {
  const { key, repeat, within = Infinity, reconcile, to = [targetOfRepeats] } = rule;
  const hold = holdParts(holdOfBound(rule, { to, timeout: defer.default_timeout }), defer, true);
  return {
    ...hold,
    ...{ value: json(rule), kind: 'restricts' },
    demands: { ...hold.demands, within, repeat: Number(repeat === 'deny') },
    scope: JSON.stringify([key, repeat === 'join', reconcile, hold.scope]),
  };
}

/** Returns whether a rule has another one after it in its list, or one of another name or pattern for the same calls. */
function isMet(tool: string, index: number, all: readonly { tool: string }[]): boolean {
  return (
    all[index + 1]?.tool === tool ||
    all.some((other) => other.tool !== tool && mayMeet(other.tool, tool))
  );
}

/** A tool that a gate lists is ruled on, in place of the decision on tools that it does not list. */
function gateParts({ unknown, to, tools }: NonNullable<ServiceConfig['gate']>): [string, Part][] {
  const demands = { unknown: ['allow', 'defer', 'deny'].indexOf(unknown) };
  return [
    ['gate.unknown', { value: { unknown, to }, kind: 'restricts', demands, scope: to }],
    ...Object.entries(tools).map(([tool, { schema }]): [string, Part] => [
      `gate.tools.${tool}`,
      { value: { schema: json(schema) }, kind: 'changes', tool },
    ]),
  ];
}

function patternsIn(guardrails: Security['guardrails']): [string, Part][] {
  const lists = ['deny_commands', 'deny_prompts', 'deny_output', 'redact'] as const;
  return lists.flatMap((list) =>
    guardrails[list].map((entry: string | { pattern: string; action?: string }) =>
      part(`guardrails.${list} ${typeof entry === 'string' ? entry : patternName(entry)}`, entry),
    ),
  );
}

function patternName({ pattern, action }: { pattern: string; action?: string }): string {
  return action === undefined ? pattern : `${action} ${pattern}`;
}

function part(name: string, value: unknown): [string, Part] {
  return [name, { value: json(value), kind: 'restricts' }];
}

function holdParts(
  rule: Hold,
  defer: Security['defer'],
  meetsOthers: boolean,
): Pick<Part, 'value' | 'terms' | 'demands' | 'scope'> {
  const terms = { ...ruleTerms(rule, defer), distinctCallers: false };
  const { approvers } = terms;
  const listed = approvers ?? [];
  const memory = terms.remember && defer.remember;
  return {
    value: json({ ...rule, approvers: listed, ...(memory === undefined ? {} : { memory }) }),
    terms,
    demands: approvers === null ? {} : { approvers },
    // Of two holds that share no approver the first one's approvers decide.
    scope: JSON.stringify([
      ...[rule.to, rule.escalate_to, rule.context_template, rule.display],
      ...(meetsOthers ? [listed] : []),
    ]),
  };
}

/** Settings of whole layers; the others have no effect on what may run. */
function settingsIn({ policy, defer, step_up: stepUp, intent_alignment: intent }: Security) {
  const settings: [string, Part][] = [
    [
      'policy.mode',
      { value: policy.mode, kind: 'restricts', demands: { on: Number(policy.mode === 'enforce') } },
    ],
    [
      'defer.bind_approver',
      {
        value: defer.bind_approver,
        kind: 'restricts',
        demands: { on: Number(defer.bind_approver) },
      },
    ],
    [
      'defer.max_pending_per_caller',
      {
        value: defer.max_pending_per_caller,
        kind: 'restricts',
        demands: { most: -defer.max_pending_per_caller },
      },
    ],
    ['step_up.acr_hierarchy', { value: stepUp.acr_hierarchy, kind: 'changes' }],
    ['intent_alignment', { value: json(intent), kind: 'changes' }],
  ];
  return settings;
}

function json(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
