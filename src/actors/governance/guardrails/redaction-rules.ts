import { personalRules } from './personal-rules.ts';
import type { RedactionRule } from './redaction-rule.ts';
import { secretRules } from './secret-rules.ts';

const groups: Readonly<Record<string, readonly RedactionRule[]>> = {
  secrets: secretRules,
  pii: personalRules,
};

const rules = new Map([...secretRules, ...personalRules].map((rule) => [rule.name, rule]));

/** Names that `redact` accepts: rules first, then groups. */
export const redactionNames: readonly string[] = [...rules.keys(), ...Object.keys(groups)];

export function isRedactionName(name: string): boolean {
  return redactionNames.includes(name);
}

/** Returns the distinct built-in rules of rule and group names, in the order of the names. */
export function redactionRules(names: readonly string[]): RedactionRule[] {
  const found = new Set<RedactionRule>();
  for (const name of names) {
    if (!isRedactionName(name)) throw new RangeError('a redaction rule has an unknown name');
    const rule = rules.get(name);
    for (const member of rule ? [rule] : (groups[name] ?? [])) found.add(member);
  }
  return [...found];
}
