import { isDeepStrictEqual } from 'node:util';
import { placedDenials, placedRules, type ServiceConfig } from '../actors/config/config.ts';
import { deciders } from '../machines/governance/quorum.ts';
import type { JsonValue } from '../machines/json.ts';

export type ComparedPolicy = Pick<ServiceConfig, 'security' | 'included'>;

type Security = ServiceConfig['security'];
type Hold = Exclude<Security['defer']['tools'][string][number], { allow: true }>;

/** A difference between two policies. */
export interface PolicyChange {
  /** Name of the rule or setting, such as `defer.tools.pay[1]`, with the file of an included policy. */
  name: string;
  change: 'added' | 'removed' | 'changed';
  /** `other` if the two cannot be compared without a call. */
  effect: 'tighter' | 'looser' | 'other';
  before?: JsonValue;
  after?: JsonValue;
}

/** A rule or setting that has an effect. */
interface Part {
  value: JsonValue;
  /** Its effect on calls: it restricts them, lets them pass, or neither. */
  kind: 'restricts' | 'releases' | 'other';
  /** Compares it with a later version, by demands of which more is tighter. */
  demands?: Readonly<Record<string, number | readonly string[]>>;
  /** The condition and the targets; parts that differ in them cannot be compared without a call. */
  scope?: string;
}

/** Lists the rules and settings that differ between two policies. Rules in shadow and of layers that are off count as absent. */
export function diffPolicies(before: ComparedPolicy, after: ComparedPolicy): PolicyChange[] {
  const [old, now] = [partsOf(before), partsOf(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  return names.flatMap((name): PolicyChange[] => {
    const [one, other] = [old.get(name), now.get(name)];
    if (one === undefined && other !== undefined) {
      return [{ name, change: 'added', effect: effectOf(other, 'tighter'), after: other.value }];
    }
    if (one !== undefined && other === undefined) {
      return [{ name, change: 'removed', effect: effectOf(one, 'looser'), before: one.value }];
    }
    if (one === undefined || other === undefined) return [];
    if (isDeepStrictEqual(one.value, other.value)) return [];
    const values = { before: one.value, after: other.value };
    return [{ name, change: 'changed', effect: changeOf(one, other), ...values }];
  });
}

function effectOf({ kind }: Part, restricting: 'tighter' | 'looser'): PolicyChange['effect'] {
  if (kind === 'other') return 'other';
  const isSame = kind === 'restricts';
  return isSame ? restricting : restricting === 'tighter' ? 'looser' : 'tighter';
}

function changeOf(before: Part, after: Part): PolicyChange['effect'] {
  if (before.kind !== after.kind) {
    if (before.kind === 'releases' && after.kind === 'restricts') return 'tighter';
    return before.kind === 'restricts' && after.kind === 'releases' ? 'looser' : 'other';
  }
  const { demands: old } = before;
  const { demands: now } = after;
  if (old === undefined || now === undefined || before.scope !== after.scope) return 'other';
  const ways = new Set(
    [...new Set([...Object.keys(old), ...Object.keys(now)])].map((key) =>
      demandChange(old[key], now[key]),
    ),
  );
  ways.delete('same');
  const [way, ...others] = [...ways];
  return way === undefined || way === 'same' || others.length > 0 ? 'other' : way;
}

type Demand = number | readonly string[] | undefined;

/** A list is tighter if it is a part of the other one, or if there was none. */
function demandChange(before: Demand, after: Demand): PolicyChange['effect'] | 'same' {
  if (typeof before === 'number' && typeof after === 'number') {
    return before === after ? 'same' : after > before ? 'tighter' : 'looser';
  }
  if (before === undefined && after !== undefined) return 'tighter';
  if (before !== undefined && after === undefined) return 'looser';
  if (typeof before !== 'object' || typeof after !== 'object') return 'other';
  const isPart = after.every((each) => before.includes(each));
  const isWhole = before.every((each) => after.includes(each));
  if (isPart && isWhole) return 'same';
  return isPart ? 'tighter' : isWhole ? 'looser' : 'other';
}

function partsOf({ security, included = [] }: ComparedPolicy): Map<string, Part> {
  const own = partsIn(security);
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
      .map(({ tool, rule }) =>
        part(`guardrails.denied_tools ${tool} ${rule.when ?? ''}`.trim(), rule),
      ),
    ...placedRules('step_up', stepUp.enabled ? stepUp.tools : {})
      .filter(isOn)
      .map(({ name, rule }): [string, Part] => [
        name,
        {
          value: json(rule),
          kind: 'restricts',
          ...(rule.when === undefined && order.includes(rule.acr)
            ? { demands: { acr: order.indexOf(rule.acr) } }
            : {}),
        },
      ]),
    ...placedRules('modify', modify.enabled ? modify.tools : {})
      .filter(isOn)
      .map(({ name, rule }): [string, Part] => [name, { value: json(rule), kind: 'other' }]),
    ...placedRules('defer', defer.enabled ? defer.tools : {})
      .filter(isOn)
      .map(({ name, rule }): [string, Part] => [
        name,
        'allow' in rule
          ? { value: json(rule), kind: 'releases' }
          : { value: json(rule), kind: 'restricts', ...holdDemands(rule, defer) },
      ]),
    ...settingsIn(security),
  ];
}

function patternsIn(guardrails: Security['guardrails']): [string, Part][] {
  const lists = ['deny_commands', 'deny_prompts', 'deny_output', 'redact'] as const;
  return lists.flatMap((list) =>
    guardrails[list].map((entry: string | { pattern: string }) =>
      part(`guardrails.${list} ${typeof entry === 'string' ? entry : entry.pattern}`, entry),
    ),
  );
}

function part(name: string, value: unknown): [string, Part] {
  return [name, { value: json(value), kind: 'restricts' }];
}

function holdDemands(rule: Hold, defer: Security['defer']): Pick<Part, 'demands' | 'scope'> {
  const { approvers, quorum, quorumOf = {} } = deciders(rule, defer.default_approvers);
  return {
    demands: {
      quorum,
      ...Object.fromEntries(
        Object.entries(quorumOf).map(([entry, count]) => [`quorum of ${entry}`, count]),
      ),
      timeout: -rule.timeout,
      fourEyes: Number(rule.four_eyes),
      passkey: Number(rule.require_passkey === true),
      edit: -Number(rule.edit),
      reason: rule.require_reason === undefined ? 0 : rule.require_reason === 'both' ? 2 : 1,
      ...(approvers === null ? {} : { approvers }),
    },
    scope: JSON.stringify([rule.when, rule.to, rule.escalate_to]),
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
    ['step_up.acr_hierarchy', { value: stepUp.acr_hierarchy, kind: 'other' }],
    ['intent_alignment', { value: json(intent), kind: 'other' }],
  ];
  return settings;
}

function json(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}
