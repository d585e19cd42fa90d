import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../../machines/json.ts';
import { ToolMap } from '../../tool-name.ts';
import { readArgumentPath } from './argument-path.ts';
import { type Change, changeAt } from './change-at.ts';
import { ModifyError } from './modify-error.ts';
import { compileReplacement, type Replacement } from './replacement.ts';
import type { Report, RuleProblem } from './rule-problem.ts';

export { ModifyError, type RuleProblem };

/** The rules of each tool by name, as in `security.modify` (docs/contract/governance.md). */
export interface ModifyRules {
  tools: Record<string, ModifyEntry | ModifyEntry[]>;
}

interface ModifyEntry {
  arguments: ArgumentRule[];
  output: { replace: Replacement }[];
  /** CEL, evaluated by the policy. */
  when?: string | undefined;
  shadow?: boolean;
}

/**
 * Rewrites a tool's arguments and results. Rules apply in order, each to the output of the previous one; `applied`
 * lists the numbers (from 1) of the rules that changed something. The input is never modified and is returned as is if
 * nothing changed. Both methods throw a ModifyError if a rule cannot be applied; the call must then be denied.
 */
export interface Modify {
  /** The source rules. */
  readonly rules: ModifyRules;
  /** Applies the rules of the entries in turn; their numbers count on from entry to entry. */
  modifyArguments(
    tool: string,
    args: JsonObject,
    entries: readonly ModifyEntryPlace[],
  ): { args: JsonObject; applied: number[] };
  modifyOutput(tool: string, text: string): { text: string; applied: number[] };
}

/** An entry of `security.modify.tools`: the name or pattern as written, and its index in the list. */
export interface ModifyEntryPlace {
  tool: string;
  index: number;
}

/** The compiled rules, or all their problems. */
export type ModifyReading = { ok: true; modify: Modify } | { ok: false; problems: RuleProblem[] };

type Rule<Value> = (value: Value) => Value;

/**
 * Compiles the rules of `security.modify`; a single invalid rule invalidates all of them (docs/contract/governance.md).
 */
export function compileModify(rules: ModifyRules): ModifyReading {
  const problems: RuleProblem[] = [];
  const reportAt =
    (...place: (string | number)[]): Report =>
    (path, message) =>
      void problems.push({ path: ['tools', ...place, ...path], message });
  const argumentRules = new Map<string, Rule<JsonObject>[][]>();
  const outputRules = new Map<string, Rule<string>[]>();
  for (const [tool, written] of Object.entries(rules.tools)) {
    const entries = Array.isArray(written) ? written : [written];
    for (const [number, entry] of entries.entries()) {
      const place = entries.length === 1 ? [tool] : [tool, number];
      const compiledArguments = entry.arguments.map((rule, index) =>
        compileArgumentRule(rule, reportAt(...place, 'arguments', index)),
      );
      const compiledOutput = entry.output.map(({ replace }, index) =>
        compileReplacement(replace, reportAt(...place, 'output', index, 'replace')),
      );
      const isConditional = entry.when !== undefined || entry.shadow === true;
      if (isConditional && entry.output.length > 0) {
        reportAt(...place, 'output')([], conditionalOutput);
      }
      const known = argumentRules.get(tool) ?? [];
      argumentRules.set(tool, [...known, compiledArguments.filter((rule) => rule !== null)]);
      if (!isConditional && !outputRules.has(tool)) {
        outputRules.set(
          tool,
          compiledOutput.filter((rule) => rule !== null),
        );
      }
    }
  }
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    modify: modifyWith(rules, argumentRules, new ToolMap([...outputRules])),
  };
}

/** A result is checked without the facts of its call. */
const conditionalOutput =
  'rules for results cannot have a condition; move them to an entry without when and shadow';

function modifyWith(
  rules: ModifyRules,
  argumentRules: ReadonlyMap<string, readonly Rule<JsonObject>[][]>,
  outputRules: ToolMap<Rule<string>[]>,
): Modify {
  return {
    rules,
    modifyArguments(tool, given, entries) {
      const place = `the arguments of ${tool}`;
      const found = entries.flatMap((entry) => argumentRules.get(entry.tool)?.[entry.index] ?? []);
      const { value, applied } = applyAll(found, given, place);
      return { args: value, applied };
    },
    modifyOutput(tool, given) {
      const place = `the output of ${tool}`;
      const { value, applied } = applyAll(outputRules.all(tool).flat(), given, place);
      return { text: value, applied };
    },
  };
}

function applyAll<Value>(rules: readonly Rule<Value>[], given: Value, place: string) {
  const applied: number[] = [];
  let value = given;
  for (const [index, rule] of rules.entries()) {
    const before = value;
    try {
      value = rule(before);
    } catch (cause) {
      const reason = cause instanceof ModifyError ? cause.message : 'it could not be carried out';
      throw new ModifyError(`rule ${index + 1} on ${place} failed: ${reason}`, { cause });
    }
    if (value !== before) applied.push(index + 1);
  }
  return { value, applied };
}

/**
 * A configured rule on arguments; exactly one of `set`, `remove` and `replace` is given (docs/contract/governance.md).
 */
type ArgumentRule = { path: string } & (
  | { set: JsonValue }
  | { remove: true }
  | { replace: Replacement }
);

/** Compiles a rule on arguments, or reports its problems and returns `null`. */
function compileArgumentRule(
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
