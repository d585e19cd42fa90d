import { dump } from 'js-yaml';
import { denialName, type RuleLayer, ruleName } from '../../machines/governance/rule-name.ts';
import { normalName } from '../tool-name.ts';
import { valueOf } from './edit-yaml.ts';

/** Rules of `service.yaml` for the calls of one tool, as far as they can be edited in place. */
export interface ToolRulesEdit {
  tool: string;
  /** True if it is in `security.guardrails.denied_tools`, with or without a condition. */
  deny: boolean;
  /** Its entry in `security.defer.tools`; `null` for none. Empty texts and lists are omitted from the entry. */
  defer: { to: string[]; timeout: string; quorum: number; approvers: string[] } | null;
  /** `acr` of its entry in `security.step_up.tools`; empty for none. */
  acr: string;
  /** Its entry in `security.modify.tools` as YAML; empty for none. */
  modify: string;
  /** Layers whose entry is a list of rules, or asks several groups: only its conditions can be edited in place. */
  listed: RuleLayer[];
  /** All its rules with their conditions, in the order of the layers. */
  conditions: RuleCondition[];
}

/** A rule with its condition. */
export interface RuleCondition {
  /** Name in decisions and in the log. */
  rule: string;
  /** Condition in CEL; empty for a rule that always applies. */
  when: string;
  /** The other terms of the rule as YAML. */
  terms: string;
}

/** A rule in the text. */
export interface RuleInText extends RuleCondition {
  path: (string | number)[];
  /** The rule as it is written: a map, or the name of a denied tool. */
  value: unknown;
}

/** Reads the rules of a `service.yaml` for tools. Throws a YamlTextError for invalid YAML. */
export function rulesIn(text: string, tools: readonly string[]): ToolRulesEdit[] {
  const {
    guardrails,
    defer,
    step_up: stepUp,
    modify,
  } = fieldsOf(fieldsOf(valueOf(text))['security']);
  const denied = denialsIn(guardrails);
  const layers = { step_up: stepUp, modify, defer };
  const entryOf = (layer: unknown, tool: string): unknown => {
    const entries = fieldsOf(fieldsOf(layer)['tools']);
    const key = keyOf(Object.keys(entries), tool);
    // Reads own properties only: a name such as `constructor` is an ordinary tool name.
    return Object.hasOwn(entries, key) ? entries[key] : undefined;
  };
  return tools.map((tool) => {
    const entries = {
      ...{ step_up: entryOf(stepUp, tool), modify: entryOf(modify, tool) },
      defer: entryOf(defer, tool),
    };
    const listed = ruleLayers.filter((layer) => isOnlyText(entries[layer]));
    const alone = (layer: RuleLayer) => (listed.includes(layer) ? undefined : entries[layer]);
    const held = alone('defer');
    const { to, timeout, quorum, approvers } = fieldsOf(held);
    const { acr } = fieldsOf(alone('step_up'));
    const rewrites = alone('modify');
    return {
      tool,
      deny: denied.some((one) => normalName(one.tool) === normalName(tool)),
      defer:
        held === undefined
          ? null
          : {
              to: typeof to === 'string' ? [to] : textsOf(to),
              timeout: typeof timeout === 'string' ? timeout : '',
              quorum: typeof quorum === 'number' ? quorum : 1,
              approvers: textsOf(approvers),
            },
      acr: typeof acr === 'string' ? acr : '',
      modify: rewrites === undefined ? '' : dump(rewrites, { lineWidth: -1 }),
      listed,
      conditions: placedIn(denied, layers, tool).map(({ rule, when, terms }) => ({
        ...{ rule, when, terms },
      })),
    };
  });
}

/** Lists the rules of a tool with their places. Throws a YamlTextError for invalid YAML. */
export function rulesOfTool(text: string, tool: string): RuleInText[] {
  const { guardrails, ...layers } = fieldsOf(fieldsOf(valueOf(text))['security']);
  return placedIn(denialsIn(guardrails), layers, tool);
}

/** True for an entry that the fields of a rule cannot show: a list, or a quorum by groups. */
export function isOnlyText(entry: unknown): boolean {
  return Array.isArray(entry) || typeof fieldsOf(entry)['quorum'] === 'object';
}

const ruleLayers: readonly RuleLayer[] = ['step_up', 'modify', 'defer'];

function placedIn(
  denied: ReturnType<typeof denialsIn>,
  layers: Record<string, unknown>,
  tool: string,
): RuleInText[] {
  const denials = denied.filter((one) => normalName(one.tool) === normalName(tool));
  const ruled = ruleLayers.flatMap((layer) => {
    const entries = fieldsOf(fieldsOf(layers[layer])['tools']);
    const key = keyOf(Object.keys(entries), tool);
    if (!Object.hasOwn(entries, key)) return [];
    const path = ['security', layer, 'tools', key];
    const entry = entries[key];
    const rules: unknown[] = Array.isArray(entry) ? entry : [entry];
    const isAlone = rules.length === 1;
    return rules.map((value, index) => ({
      ...{ rule: ruleName(layer, key, { index, isAlone }), value },
      path: Array.isArray(entry) ? [...path, index] : path,
    }));
  });
  return [...denials, ...ruled].map(({ rule, value, path }) => {
    const { when, ...terms } = fieldsOf(value);
    const isText = typeof when === 'string' || typeof when === 'boolean';
    return { rule, path, value, when: isText ? String(when) : '', terms: inlineYaml(terms) };
  });
}

function denialsIn(guardrails: unknown) {
  const list: unknown = fieldsOf(guardrails)['denied_tools'];
  return (Array.isArray(list) ? (list as unknown[]) : []).flatMap((value, index) => {
    const tool = typeof value === 'string' ? value : fieldsOf(value)['tool'];
    const path = ['security', 'guardrails', 'denied_tools', index];
    return typeof tool === 'string' ? [{ tool, index, rule: denialName(index), value, path }] : [];
  });
}

function inlineYaml(terms: Record<string, unknown>): string {
  return Object.keys(terms).length === 0 ? '' : dump(terms, { flowLevel: 0, lineWidth: -1 }).trim();
}

/** Returns a map as is, and an empty one for any other value. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** Returns the texts of a list; empty for any other value. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** Returns the key of a tool, which may be written in either spelling. */
export function keyOf(keys: readonly string[], tool: string): string {
  return keys.find((key) => normalName(key) === normalName(tool)) ?? tool;
}
