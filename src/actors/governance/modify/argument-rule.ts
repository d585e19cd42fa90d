import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../../machines/json.ts';
import { readArgumentPath } from './argument-path.ts';
import { type Change, changeAt } from './change-at.ts';
import { compileReplacement, type Replacement } from './replacement.ts';
import type { Report } from './rule-problem.ts';

/**
 * A configured rule on arguments; exactly one of `set`, `remove` and `replace` is given (docs/contract/governance.md).
 */
export type ArgumentRule = { path: string } & (
  | { set: JsonValue }
  | { remove: true }
  | { replace: Replacement }
);

/** Compiles a rule on arguments, or reports its problems and returns `null`. */
export function compileArgumentRule(
  rule: ArgumentRule,
  report: Report,
): ((args: JsonObject) => JsonObject) | null {
  const reading = readArgumentPath(rule.path);
  if (!reading.ok) report(['path'], reading.message);
  const change = changeOf(rule, report);
  if (!reading.ok || change === null) return null;
  return (args) => changeAt(args, reading.path, change);
}

function changeOf(rule: ArgumentRule, report: Report): Change | null {
  const given = ['set', 'remove', 'replace'].filter((key) => Object.hasOwn(rule, key));
  if (given.length !== 1) {
    report([], 'a rule does one thing; give it one of set, remove and replace');
    return null;
  }
  if ('set' in rule) {
    const value = structuredClone(rule.set);
    return (before) => (isDeepStrictEqual(before, value) ? before : structuredClone(value));
  }
  if ('remove' in rule) return () => undefined;
  const replace = compileReplacement(rule.replace, (path, message) =>
    report(['replace', ...path], message),
  );
  if (replace === null) return null;
  return (before) => (typeof before === 'string' ? replace(before) : before);
}
