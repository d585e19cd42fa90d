import { isDeepStrictEqual } from 'node:util';
import { normalName } from '../tool-name.ts';
import { editYaml, valueOf, type YamlEdit, YamlTextError } from './edit-yaml.ts';
import {
  fieldsOf,
  isOnlyText,
  keyOf,
  rulesIn,
  rulesOfTool,
  type ToolRulesEdit,
} from './rules-in.ts';

const byHand = 'security is written in a way that its rules cannot be edited in; change it by hand';

/**
 * Writes tool rules into a `service.yaml`. Only the lines of differing parts are changed; the first rule of a layer
 * enables it. Throws a YamlTextError for a string or snippet that is not valid YAML, and if the resulting text would have
 * any unintended change of meaning.
 */
export function withRules(text: string, wanted: readonly ToolRulesEdit[]): string {
  const tools = wanted.map(({ tool }) => tool);
  const start = wanted.reduce(withConditions, text);
  const before = rulesIn(start, tools);
  const edits = wanted.filter(
    (rules, index) => !isDeepStrictEqual(fieldsIn(rules), fieldsIn(before[index] ?? rules)),
  );
  const after = edits.reduce(withToolRules, start);
  // A tool may have a second entry, under the other spelling of its name.
  const isMeant = isDeepStrictEqual(rulesIn(after, tools).map(meaningOf), wanted.map(meaningOf));
  if (edits.length > 0 && !isMeant) throw new YamlTextError(byHand);
  return after;
}

/**
 * Writes a rule that needs no approval before the other approval rules of a tool. Throws a YamlTextError if the text has
 * no such rule.
 */
export function withAllowance(
  text: string,
  { tool, when }: { tool: string; when: string },
): string {
  const { defer } = fieldsOf(fieldsOf(valueOf(text))['security']);
  const tools = fieldsOf(fieldsOf(defer)['tools']);
  const key = keyOf(Object.keys(tools), tool);
  if (!Object.hasOwn(tools, key)) {
    throw new YamlTextError(
      `service.yaml has no rule of its own for ${tool}; add the condition by hand`,
    );
  }
  const before: unknown = tools[key];
  const others: unknown[] = Array.isArray(before) ? before : [before];
  const value = [{ when, allow: true }, ...others];
  return editYaml(text, [{ kind: 'put', path: ['security', 'defer', 'tools', key], value }]);
}

function meaningOf(rules: ToolRulesEdit): object {
  const modify = rules.modify.trim() === '' ? null : valueOf(rules.modify);
  return { ...fieldsIn(rules), modify };
}

/** Returns the parts that are not written with the conditions. */
function fieldsIn({ conditions: _, listed: __, ...fields }: ToolRulesEdit): object {
  return fields;
}

/** Writes the changed conditions of a tool's rules. */
function withConditions(text: string, { tool, conditions }: ToolRulesEdit): string {
  const placed = rulesOfTool(text, tool);
  const edits = conditions.flatMap(({ rule, when }): YamlEdit[] => {
    const now = placed.find((one) => one.rule === rule);
    if (now === undefined) throw new YamlTextError(`${tool} has no rule ${rule}`);
    const { path, value } = now;
    const wanted = when.trim();
    if (wanted === now.when.trim()) return [];
    if (wanted === '') return [{ kind: 'delete', path: [...path, 'when'] }];
    if (typeof value === 'string') {
      return [{ kind: 'put', path, value: { tool: value, when: wanted } }];
    }
    return [{ kind: 'put', path: [...path, 'when'], value: wanted }];
  });
  return edited(text, edits);
}

function edited(text: string, edits: readonly YamlEdit[]): string {
  try {
    return editYaml(text, edits);
  } catch (error) {
    throw new YamlTextError(byHand, { cause: error });
  }
}

function withToolRules(text: string, rules: ToolRulesEdit): string {
  return edited(text, editsOf(text, rules));
}

type Layer = 'guardrails' | 'defer' | 'step_up' | 'modify';

function editsOf(text: string, rules: ToolRulesEdit): YamlEdit[] {
  const { tool, deny, defer, acr, modify } = rules;
  const [before = rules] = rulesIn(text, [tool]);
  const security = fieldsOf(fieldsOf(valueOf(text))['security']);
  const entryEdits = (layer: Layer, put: ((path: string[]) => YamlEdit[]) | null): YamlEdit[] => {
    const keys = Object.keys(fieldsOf(fieldsOf(security[layer])['tools']));
    const path = ['security', layer, 'tools', keyOf(keys, tool)];
    const entry = fieldsOf(fieldsOf(security[layer])['tools'])[keyOf(keys, tool)];
    if (isOnlyText(entry)) {
      const what = Array.isArray(entry) ? 'is a list of rules' : 'asks several groups';
      throw new YamlTextError(`${path.join('.')} ${what}; edit it in service.yaml`);
    }
    if (put !== null) return [switched(layer, true), ...put(path)];
    // A layer without entries would be invalid while it is enabled.
    return [{ kind: 'delete', path }, ...(keys.length === 1 ? [switched(layer, false)] : [])];
  };
  return [
    ...(deny === before.deny ? [] : denyEdits(tool, deny, security['guardrails'])),
    ...(isDeepStrictEqual(defer, before.defer)
      ? []
      : entryEdits('defer', defer && ((path) => deferEdits(path, defer, before.defer)))),
    ...(acr === before.acr
      ? []
      : entryEdits(
          'step_up',
          acr === '' ? null : (path) => [{ kind: 'put', path: [...path, 'acr'], value: acr }],
        )),
    ...(modify.trim() === before.modify.trim()
      ? []
      : entryEdits(
          'modify',
          modify.trim() === '' ? null : (path) => [{ kind: 'put', path, value: snippetOf(rules) }],
        )),
  ];
}

function denyEdits(tool: string, deny: boolean, guardrails: unknown): YamlEdit[] {
  const path = ['security', 'guardrails', 'denied_tools'];
  if (deny) return [switched('guardrails', true), { kind: 'append', path, items: [tool] }];
  const list: unknown = fieldsOf(guardrails)['denied_tools'];
  // Deletes the last item first, since deletions shift later indexes.
  return (Array.isArray(list) ? [...list.entries()] : [])
    .filter(([, value]) => {
      const name: unknown = typeof value === 'string' ? value : fieldsOf(value)['tool'];
      return typeof name === 'string' && normalName(name) === normalName(tool);
    })
    .map(([index]): YamlEdit => ({ kind: 'delete', path: [...path, index] }))
    .toReversed();
}

type Defer = NonNullable<ToolRulesEdit['defer']>;

function deferEdits(path: string[], defer: Defer, before: Defer | null): YamlEdit[] {
  const old = before === null ? {} : deferFields(before);
  return Object.entries(deferFields(defer))
    .filter(([key, value]) => !isDeepStrictEqual(value, old[key]))
    .map(([key, value]) =>
      value === undefined
        ? { kind: 'delete', path: [...path, key] }
        : { kind: 'put', path: [...path, key], value },
    );
}

/** Returns the fields of an entry; `undefined` for those that are omitted. */
function deferFields({ to, timeout, quorum, approvers }: Defer): Record<string, unknown> {
  return {
    to: to.length === 1 ? to[0] : to,
    timeout: timeout === '' ? undefined : timeout,
    quorum: quorum === 1 ? undefined : quorum,
    approvers: approvers.length === 0 ? undefined : approvers,
  };
}

function switched(layer: Layer, value: boolean): YamlEdit {
  return { kind: 'put', path: ['security', layer, 'enabled'], value, isFirst: true };
}

function snippetOf({ tool, modify }: ToolRulesEdit): unknown {
  const value = valueOf(modify, `the rules of ${tool} under MODIFY are no YAML`);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new YamlTextError(
    `the rules of ${tool} under MODIFY must be a map with arguments or output`,
  );
}
