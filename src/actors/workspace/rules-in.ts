import { dump } from 'js-yaml';
import { normalName } from '../tool-name.ts';
import { valueOf } from './edit-yaml.ts';

/** Rules of `service.yaml` for the calls of one tool, as far as they can be edited in place. */
export interface ToolRulesEdit {
  tool: string;
  /** True if it is in `security.guardrails.denied_tools`. */
  deny: boolean;
  /** Its entry in `security.defer.tools`; `null` for none. Empty texts and lists are omitted from the entry. */
  defer: { to: string[]; timeout: string; quorum: number; approvers: string[] } | null;
  /** `acr` of its entry in `security.step_up.tools`; empty for none. */
  acr: string;
  /** Its entry in `security.modify.tools` as YAML; empty for none. */
  modify: string;
}

/** Reads the rules of a `service.yaml` for tools. Throws a YamlTextError for invalid YAML. */
export function rulesIn(text: string, tools: readonly string[]): ToolRulesEdit[] {
  const {
    guardrails,
    defer,
    step_up: stepUp,
    modify,
  } = fieldsOf(fieldsOf(valueOf(text))['security']);
  const denied = textsOf(fieldsOf(guardrails)['denied_tools']);
  const entryOf = (layer: unknown, tool: string): unknown => {
    const entries = fieldsOf(fieldsOf(layer)['tools']);
    const key = keyOf(Object.keys(entries), tool);
    // Reads own properties only: a name such as `constructor` is an ordinary tool name.
    return Object.hasOwn(entries, key) ? entries[key] : undefined;
  };
  return tools.map((tool) => {
    const held = entryOf(defer, tool);
    const { to, timeout, quorum, approvers } = fieldsOf(held);
    const { acr } = fieldsOf(entryOf(stepUp, tool));
    const rewrites = entryOf(modify, tool);
    return {
      tool,
      deny: denied.some((name) => normalName(name) === normalName(tool)),
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
    };
  });
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
