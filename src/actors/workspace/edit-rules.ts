import { isDeepStrictEqual } from 'node:util';
import { dump } from 'js-yaml';
import { type Document, isMap, isScalar, parseDocument, type ToStringOptions } from 'yaml';
import { normalName } from '../tool-name.ts';
import { onUnixLines, YamlTextError } from './extend-yaml.ts';
import {
  fieldsOf,
  keyOf,
  rulesIn,
  type ToolRulesEdit,
  textsOf,
  valueOf,
  yamlLimits,
} from './rules-in.ts';

const byHand = 'security is written in a way that its rules cannot be edited in; change it by hand';

/**
 * Writes tool rules into a `service.yaml`, and preserves its comments. Only differing parts are changed; the first rule
 * of a layer enables it. Throws a YamlTextError for a text or snippet that is not valid YAML, and if the resulting text
 * would have any unintended change of meaning.
 */
export function withRules(text: string, wanted: readonly ToolRulesEdit[]): string {
  const now = rulesIn(
    text,
    wanted.map(({ tool }) => tool),
  );
  const edits = wanted.flatMap((rules, index) => {
    const before = now[index];
    return before === undefined || isDeepStrictEqual(before, rules) ? [] : [{ rules, before }];
  });
  if (edits.length === 0) return text;
  const after = onUnixLines(text, (lines) => editedText(lines, edits));
  checkMeaning(text, after, edits);
  return after;
}

interface Edit {
  rules: ToolRulesEdit;
  before: ToolRulesEdit;
}

function editedText(text: string, edits: readonly Edit[]): string {
  const document = parseDocument(text, { logLevel: 'silent' });
  if (document.errors.length > 0)
    throw new YamlTextError('the file is not valid YAML; fix it first');
  try {
    for (const { rules, before } of edits) writeRules(document, rules, before);
    return document.toString(styleOf(text));
  } catch (error) {
    throw error instanceof YamlTextError ? error : new YamlTextError(byHand, { cause: error });
  }
}

/** Entries may share an anchor or an alias; only the intended entries may change their meaning. */
function checkMeaning(before: string, after: string, edits: readonly Edit[]): void {
  const wanted = new Map(edits.map(({ rules }) => [normalName(rules.tool), rules]));
  const tools = [...new Set([...toolsIn(before), ...edits.map(({ rules }) => rules.tool)])];
  const expected = rulesIn(before, tools).map((now) => {
    const rules = wanted.get(normalName(now.tool));
    if (rules === undefined) return now;
    const modify = rules.modify.trim() === '' ? '' : dump(snippetOf(rules), { lineWidth: -1 });
    return { ...rules, tool: now.tool, modify };
  });
  const isMeant =
    isDeepStrictEqual(rulesIn(after, tools), expected) &&
    isDeepStrictEqual(restOf(before), restOf(after));
  if (!isMeant) throw new YamlTextError(byHand);
}

const layers = ['guardrails', 'defer', 'step_up', 'modify'] as const;

type Layer = (typeof layers)[number];

/** Returns the tools for which a text has rules. */
function toolsIn(text: string): string[] {
  const security = fieldsOf(fieldsOf(valueOf(text))['security']);
  return layers.flatMap((layer) => {
    const { tools, denied_tools: denied } = fieldsOf(security[layer]);
    return [...Object.keys(fieldsOf(tools)), ...textsOf(denied)];
  });
}

/** Returns the content of a text without tool rules. */
function restOf(text: string): unknown {
  const { security, ...rest } = fieldsOf(valueOf(text));
  const said = Object.entries(fieldsOf(security)).map(([key, value]) => {
    const isLayer = layers.some((layer) => layer === key);
    const { tools: _, denied_tools: __, enabled: ___, ...others } = fieldsOf(value);
    return [key, isLayer ? others : value] as const;
  });
  const none = Object.fromEntries(layers.map((layer) => [layer, {}]));
  return { ...rest, security: { ...none, ...Object.fromEntries(said) } };
}

function writeRules(document: Document, rules: ToolRulesEdit, before: ToolRulesEdit): void {
  writeDeny(document, rules, before);
  writeDefer(document, rules, before);
  const { tool } = rules;
  if (rules.acr !== before.acr) {
    const place = entryPlace(document, 'step_up', tool);
    if (rules.acr === '') takeOut(document, 'step_up', place);
    else put(document, 'step_up', [...place, 'acr'], rules.acr);
  }
  if (rules.modify.trim() !== before.modify.trim()) {
    const place = entryPlace(document, 'modify', tool);
    if (rules.modify.trim() === '') takeOut(document, 'modify', place);
    else put(document, 'modify', place, snippetOf(rules));
  }
}

/** Detects the text's style, so that unedited lines stay unchanged if the style is consistent. */
function styleOf(text: string): ToStringOptions {
  const indent = /^( {1,8})\S/m.exec(text)?.[1]?.length ?? 2;
  return {
    lineWidth: 0,
    indent: Math.max(1, indent),
    flowCollectionPadding: !/[{[][^\s{}[\]]/.test(text),
    indentSeq: !/^( *)[\w-]+:[^\S\n]*\n\1- /m.test(text),
  };
}

function writeDeny(document: Document, { tool, deny }: ToolRulesEdit, before: ToolRulesEdit): void {
  if (deny === before.deny) return;
  const place = ['security', 'guardrails', 'denied_tools'];
  const listed = textsOf(fieldsOf(fieldsOf(plain(document, 'guardrails')))['denied_tools']);
  if (!deny) {
    // Iterates backwards, since deletions shift later indexes.
    for (let index = listed.length - 1; index >= 0; index -= 1) {
      if (normalName(listed[index] ?? '') === normalName(tool))
        document.deleteIn([...place, index]);
    }
  } else if (listed.length === 0) put(document, 'guardrails', place, [tool]);
  else {
    document.addIn(place, document.createNode(tool));
    switchOn(document, 'guardrails');
  }
}

function writeDefer(
  document: Document,
  { tool, defer }: ToolRulesEdit,
  before: ToolRulesEdit,
): void {
  if (isDeepStrictEqual(defer, before.defer)) return;
  const place = entryPlace(document, 'defer', tool);
  if (defer === null) return takeOut(document, 'defer', place);
  const { to, timeout, quorum, approvers } = defer;
  const old = before.defer;
  const set = (key: string, value: unknown, isUsual: boolean): void => {
    if (isUsual) document.deleteIn([...place, key]);
    else put(document, 'defer', [...place, key], value);
  };
  if (!isDeepStrictEqual(to, old?.to)) set('to', to.length === 1 ? to[0] : to, false);
  if (timeout !== old?.timeout) set('timeout', timeout, timeout === '');
  if (quorum !== (old?.quorum ?? 1)) set('quorum', quorum, quorum === 1);
  if (!isDeepStrictEqual(approvers, old?.approvers ?? [])) {
    set('approvers', approvers, approvers.length === 0);
  }
}

function put(document: Document, layer: Layer, place: readonly string[], value: unknown): void {
  for (const depth of place.keys()) if (depth > 0) fill(document, place.slice(0, depth));
  document.setIn(place, document.createNode(value));
  switchOn(document, layer);
}

/** Replaces a key without a value by a map; its comment is preserved. */
function fill(document: Document, place: readonly string[]): void {
  const empty = document.getIn(place, true);
  if (!isScalar(empty) || empty.value !== null) return;
  const { comment = null, commentBefore = null } = empty;
  document.setIn(place, Object.assign(document.createNode({}), { comment, commentBefore }));
}

/** Disables a layer without entries, which would be invalid while it is enabled. */
function takeOut(document: Document, layer: Layer, place: readonly string[]): void {
  document.deleteIn(place);
  const { tools } = fieldsOf(plain(document, layer));
  if (Object.keys(fieldsOf(tools)).length === 0) {
    document.setIn(['security', layer, 'enabled'], false);
  }
}

function switchOn(document: Document, layer: Layer): void {
  const place = ['security', layer, 'enabled'];
  if (document.getIn(place) === true) return;
  document.setIn(place, true);
  const map = document.getIn(['security', layer]);
  // A new `enabled` key is placed before the rules it applies to.
  if (isMap(map)) {
    const at = map.items.findIndex(({ key }) => isScalar(key) && key.value === 'enabled');
    map.items.unshift(...map.items.splice(at, 1));
  }
}

function entryPlace(document: Document, layer: Layer, tool: string): string[] {
  const entries = fieldsOf(fieldsOf(plain(document, layer))['tools']);
  return ['security', layer, 'tools', keyOf(Object.keys(entries), tool)];
}

function plain(document: Document, layer: Layer): unknown {
  const { security } = fieldsOf(document.toJS({ maxAliasCount: yamlLimits.maxAliases }));
  return fieldsOf(security)[layer];
}

function snippetOf({ tool, modify }: ToolRulesEdit): unknown {
  const value = valueOf(modify, `the rules of ${tool} under MODIFY are no YAML`);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new YamlTextError(
    `the rules of ${tool} under MODIFY must be a map with arguments or output`,
  );
}
