import type { ShadowedRule } from '../../../machines/governance/ruling.ts';
import type { JsonObject } from '../../../machines/json.ts';
import type { Tool } from '../../ports/tool.ts';
import { normalName, ToolMap } from '../../tool-name.ts';
import {
  type Condition,
  ConditionCompiler,
  type ConditionParts,
  type TextExpression,
} from '../conditions/condition.ts';
import type { CallFacts } from '../conditions/condition-input.ts';
import { namesEveryArgument } from './named-arguments.ts';

/** A rule of a tool, with its name in decisions and in the log. */
export interface NamedRule<Rule> {
  tool: string;
  name: string;
  /** True for the only rule of its tool, without a condition; decisions do not name it. */
  isPlain?: boolean;
  /** Its index in the list. */
  index: number;
  rule: Rule;
}

/** The parts of a rule that decide whether it applies. */
export interface RuleTerms {
  when?: string | undefined;
  shadow: boolean;
  /** The rule lets calls pass; every other rule restricts. */
  allow?: true;
}

/** The call that rules are applied to. */
export interface RuledCall {
  tool: string;
  args: JsonObject;
}

/** What is known of a call outside its task. Conditions on anything else cannot be evaluated. */
export const noFacts: CallFacts = {
  requester: null,
  task: { id: '', surface: '', session: '', tags: {} },
  ran: null,
  now: 0,
};

/** Finds the rules that apply to calls. A rule whose condition cannot be evaluated applies only if it restricts. */
export class RuleMatcher {
  readonly #compiler: ConditionCompiler;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly #isShadow: boolean;
  /** By parameters of the tool, since a server may change them. */
  readonly #conditions = new WeakMap<JsonObject, Map<string, Condition | null>>();
  readonly #texts = new WeakMap<JsonObject, Map<string, TextExpression | null>>();

  constructor(
    parts: ConditionParts & {
      tools: ReadonlyMap<string, Tool>;
      /** True if every rule only reports. */
      isShadow: boolean;
    },
  ) {
    this.#compiler = new ConditionCompiler(parts);
    this.#tools = parts.tools;
    this.#isShadow = parts.isShadow;
  }

  /**
   * Returns the first rule of a list that applies; none for an empty list. If its condition could not be evaluated, the
   * next ones follow, up to the first whose condition holds: a call must not choose a weaker rule by an argument that no
   * condition can read. Rules in shadow that would have applied are added to `shadows` with their effect.
   */
  applying<Rule extends RuleTerms>(
    rules: readonly NamedRule<Rule>[],
    call: RuledCall,
    { facts, shadows, would }: Asking<Rule>,
  ): NamedRule<Rule>[] {
    const found: NamedRule<Rule>[] = [];
    for (const named of rules) {
      const { when, allow, shadow } = named.rule;
      if (allow === true && !this.namesArgumentsOf(call)) continue;
      const holds =
        when === undefined || (this.#condition(when, call.tool)?.holds(call, facts) ?? null);
      if (!(holds ?? allow !== true)) continue;
      if (shadow || this.#isShadow) {
        shadows.push({ rule: named.name, would: would(named.rule) });
        continue;
      }
      found.push(named);
      if (holds === true) break;
    }
    return found;
  }

  /**
   * Returns whether the schema of the tool names every argument of a call. A program may obey another one, and no rule looks
   * at it.
   */
  namesArgumentsOf({ tool, args }: RuledCall): boolean {
    return namesEveryArgument(this.#parametersOf(tool), args);
  }

  /** Returns whether a condition holds for a call, or why it cannot be used for the tool. */
  holds(when: string, call: RuledCall, facts: CallFacts): boolean | string {
    const condition = this.#condition(when, call.tool);
    if (condition !== null) return condition.holds(call, facts) ?? 'it has no value for this call';
    const compiled = this.#compiler.compile(when, this.#parametersOf(call.tool));
    return 'message' in compiled ? compiled.message : 'it does not fit the tool';
  }

  /** Returns the value of an expression of type string for a call; `null` if it cannot be evaluated. */
  text(expression: string, call: RuledCall, facts: CallFacts): string | null {
    const parameters = this.#parametersOf(call.tool);
    const compiled = compiledOnce(this.#texts, parameters, expression, () => {
      const made = this.#compiler.compileText(expression, parameters);
      return 'text' in made ? made : null;
    });
    return compiled?.text(call, facts) ?? null;
  }

  /** Returns a condition; `null` if it does not fit the tool, which a server may have changed. */
  #condition(text: string, tool: string): Condition | null {
    const parameters = this.#parametersOf(tool);
    return compiledOnce(this.#conditions, parameters, text, () => {
      const made = this.#compiler.compile(text, parameters);
      return 'holds' in made ? made : null;
    });
  }

  #parametersOf(tool: string): JsonObject {
    return this.#tools.get(tool)?.parameters ?? noParameters;
  }
}

const noParameters: JsonObject = {};

function compiledOnce<Compiled>(
  all: WeakMap<JsonObject, Map<string, Compiled | null>>,
  parameters: JsonObject,
  text: string,
  compile: () => Compiled | null,
): Compiled | null {
  const known = all.get(parameters) ?? new Map<string, Compiled | null>();
  all.set(parameters, known);
  const made = known.get(text);
  if (made !== undefined) return made;
  const compiled = compile();
  known.set(text, compiled);
  return compiled;
}

interface Asking<Rule> {
  facts: CallFacts;
  /** Receives the rules in shadow that would have applied. */
  shadows: ShadowedRule[];
  would: Effect<Rule>;
}

/** Names the decision that a rule would have made. */
type Effect<Rule> = (rule: Rule) => ShadowedRule['would'];

/**
 * Returns the lists of rules of a tool: that of its own name, empty if there is none, and then that of each pattern that
 * matches it, in their order.
 */
export type RulesOf<Rule> = (tool: string) => readonly (readonly NamedRule<Rule>[])[];

/** Groups rules by tool; both spellings of a name are one tool. */
export function byTool<Rule>(rules: readonly NamedRule<Rule>[]): RulesOf<Rule> {
  const groups = new ToolMap([...Map.groupBy(rules, ({ tool }) => normalName(tool))]);
  return (tool) => [groups.named(tool) ?? [], ...groups.matching(tool)];
}
