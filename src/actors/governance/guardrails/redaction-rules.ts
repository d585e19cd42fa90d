import { personalRules } from './personal-rules.ts';
import type { RedactionRule } from './redaction-rule.ts';
import { secretRules } from './secret-rules.ts';

const groups: Readonly<Record<string, readonly RedactionRule[]>> = {
  secrets: secretRules,
  pii: personalRules,
};

const rules = new Map([...secretRules, ...personalRules].map((rule) => [rule.name, rule]));

/** The names that `redact` takes: those of the rules, then those of the groups. */
export const redactionNames: readonly string[] = [...rules.keys(), ...Object.keys(groups)];

/** Returns whether `redact` takes a name. */
export function isRedactionName(name: string): boolean {
  return redactionNames.includes(name);
}

/** Returns the built-in rules that names stand for, each once, in the order of the names. */
export function redactionRules(names: readonly string[]): RedactionRule[] {
  const found = new Set<RedactionRule>();
  for (const name of names) {
    if (!isRedactionName(name)) throw new RangeError('a redaction rule has a name nobody knows');
    const rule = rules.get(name);
    for (const member of rule ? [rule] : (groups[name] ?? [])) found.add(member);
  }
  return [...found];
}
