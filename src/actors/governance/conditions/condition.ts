import { type ASTNode, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';
import type { JsonObject } from '../../../machines/json.ts';
import { depthTag } from '../../../machines/workflow.ts';
import { type LinearPattern, linearPattern } from '../guardrails/guardrails.ts';
import { unnamedClaims } from './caller-reads.ts';
import { Budget, failAtVagueValues, vagueValueFault } from './computed-values.ts';
import type { CallFacts } from './condition-input.ts';
import { callerTypes, callTypes, limitTypes, taskTypes } from './condition-words.ts';
import { childrenOf, costFault, type ExpressionFault } from './expression-limits.ts';
import { History } from './history.ts';
import { unnamedLimit } from './limit-reads.ts';
import { isUnder, Path } from './path-under.ts';
import { type CelType, typesOf, valuesOf } from './schema-types.ts';

/** A checked condition of a rule. */
export interface Condition {
  /** Returns whether the condition holds; `null` if it cannot be evaluated for this call. Never throws. */
  holds(call: ConditionedCall, facts: CallFacts): boolean | null;
}

/** A checked expression of type string. */
export interface TextExpression {
  /** Returns the text; `null` if it cannot be evaluated for this call. Never throws. */
  text(call: ConditionedCall, facts: CallFacts): string | null;
}

export interface ConditionedCall {
  tool: string;
  args: JsonObject;
}

/** Parts that all conditions of an agent share. */
export interface ConditionParts {
  /** Variables of the daemon that conditions may read, `undefined` for one that is not set; any other name is a fault. */
  environment: Readonly<Record<string, string | undefined>>;
  /** The limits that conditions may read, with the names by which they are stored; any other name is a fault. */
  limits?: ReadonlyMap<string, string>;
}

/** Maximum length of an expression in characters. */
const longest = 4_096;

const sizes = {
  maxAstNodes: 300,
  maxDepth: 40,
  maxListElements: 200,
  maxMapEntries: 50,
  maxCallArguments: 8,
};

/**
 * Compiles CEL expressions for the calls of a tool (docs/contract/governance.md). Types come from the tool's schema, so
 * a misspelled argument is a fault. Evaluation takes linear time in the call and the session, and matches patterns with
 * RE2.
 */
export class ConditionCompiler {
  readonly #environment: Readonly<Record<string, string | undefined>>;
  readonly #limits: ReadonlyMap<string, string>;
  readonly #patterns = new Map<string, LinearPattern>();
  readonly #base: Environment;
  /** Conditions are evaluated one at a time. */
  readonly #budget = new Budget();

  constructor({ environment, limits = new Map() }: ConditionParts) {
    this.#environment = environment;
    this.#limits = limits;
    this.#base = new Environment({ homogeneousAggregateLiterals: false, limits: sizes })
      .registerType('History', { ctor: History, fields: { labels: 'list<string>' } })
      .registerType('Path', Path)
      .registerFunction('History.count(string): int', (history: History, tool: string) =>
        BigInt(history.count(tool)),
      )
      .registerFunction(
        'History.sum(string, string): double',
        (history: History, tool: string, path: string) => history.sum(tool, path),
      )
      .registerFunction('History.last(string): dyn', (history: History, tool: string) =>
        history.last(tool),
      )
      .registerFunction(`string.${linear}(string): bool`, (text: string, pattern: string) =>
        this.#pattern(pattern).test(text),
      )
      .registerVariable('tool', 'string')
      .registerVariable('now', 'google.protobuf.Timestamp')
      .registerFunction('Path.under(string, string): bool', (_: Path, path: string, base: string) =>
        isUnder(path, base),
      )
      .registerConstant('path', 'Path', new Path())
      .registerVariable({
        name: 'environment',
        schema: Object.fromEntries(Object.keys(environment).map((name) => [name, 'string'])),
      })
      .registerVariable('history', 'History')
      .registerVariable({ name: 'caller', schema: callerTypes })
      .registerVariable({ name: 'call', schema: callTypes })
      .registerVariable({ name: 'task', schema: taskTypes });
    if (limits.size > 0) {
      const schema = Object.fromEntries([...limits.keys()].map((name) => [name, limitTypes]));
      this.#base.registerVariable({ name: 'limits', schema });
    }
  }

  /** Returns a condition on the calls of a tool with these parameters, or the fault of the expression. */
  compile(text: string, parameters: JsonObject): Condition | ExpressionFault {
    const compiled = this.#compiled(text, parameters, 'bool');
    if ('message' in compiled) return compiled;
    return {
      holds: (call, facts) => {
        const found = compiled.value(call, facts);
        return typeof found === 'boolean' ? found : null;
      },
    };
  }

  /** Returns an expression of type string, or its fault. */
  compileText(text: string, parameters: JsonObject): TextExpression | ExpressionFault {
    const compiled = this.#compiled(text, parameters, 'string');
    if ('message' in compiled) return compiled;
    return {
      text: (call, facts) => {
        const found = compiled.value(call, facts);
        return typeof found === 'string' ? found : null;
      },
    };
  }

  #compiled(
    text: string,
    parameters: JsonObject,
    wanted: 'bool' | 'string',
  ): Expression | ExpressionFault {
    if (text.length > longest) {
      const message = `the expression is longer than ${longest} characters; split the rule`;
      return { message, at: longest };
    }
    if (text.includes(linear))
      return { message: `unknown function ${linear}`, at: text.indexOf(linear) };
    try {
      const types = typesOf(parameters);
      const environment = this.#base.clone();
      environment.registerVariable(
        Object.keys(types).length === 0
          ? { name: 'args', type: 'map<string, dyn>' }
          : { name: 'args', schema: types as Record<string, never> },
      );
      const { valid, type, error } = environment.check(text);
      if (!valid) return faultOf(error);
      if (type !== wanted && type !== 'dyn') {
        const demand = wanted === 'bool' ? 'true or false' : 'a string';
        return { message: `the expression must be ${demand}, and it is of type ${type}`, at: 0 };
      }
      const { ast } = environment.parse(text);
      const costly = costFault(ast);
      if (costly !== null) return costly;
      const vague = unnamedClaims(ast) ?? unnamedLimit(ast);
      if (vague !== null) return vague;
      const inexact = vagueValueFault(ast);
      if (inexact !== null) return inexact;
      const bad = this.#badPattern(ast);
      if (bad !== null) return bad;
      const evaluate = environment.parse(withLinearMatches(text, ast));
      const [left] = matchesIn(evaluate.ast);
      if (left !== undefined) return { message: hiddenMatches, at: left.at };
      failAtVagueValues(evaluate.ast, this.#budget);
      return this.#expression(evaluate, types);
    } catch (error) {
      return faultOf(error);
    }
  }

  #expression(
    evaluate: (context: object) => unknown,
    types: { [member: string]: CelType },
  ): Expression {
    return {
      value: ({ tool, args }, { requester, task, ran, now }) => {
        try {
          this.#budget.reset();
          return evaluate({
            args: valuesOf(args, types),
            tool,
            now: new Date(now),
            environment: this.#environment,
            ...(ran === null ? {} : { history: new History(ran) }),
            caller: callerOf(requester),
            call: task.call ?? {},
            task: taskOf(task),
            limits: this.#limitsIn(task.limits ?? {}),
          });
        } catch {
          return null;
        }
      },
    };
  }

  /** A limit that could not be read stays absent. */
  #limitsIn(left: Readonly<Record<string, string>>): object {
    return Object.fromEntries(
      [...this.#limits].flatMap(([name, stored]) =>
        Object.hasOwn(left, stored) ? [[name, { left: Number(left[stored]) }]] : [],
      ),
    );
  }

  #pattern(source: string): LinearPattern {
    const known = this.#patterns.get(source);
    if (known !== undefined) return known;
    const made = linearPattern(source);
    this.#patterns.set(source, made);
    return made;
  }

  /** Compiles the patterns of an expression; returns the fault of the first bad one. */
  #badPattern(ast: ASTNode): ExpressionFault | null {
    for (const { pattern, at } of matchesIn(ast)) {
      try {
        this.#pattern(pattern);
      } catch (error) {
        return { message: error instanceof Error ? error.message : String(error), at };
      }
    }
    return null;
  }
}

/** A checked expression. */
interface Expression {
  /** Returns its value; `null` if it has none for this call. */
  value(call: ConditionedCall, facts: CallFacts): unknown;
}

/** Absent members stay absent, so that `has()` finds out. */
function callerOf(requester: CallFacts['requester']): object {
  if (requester === null) return {};
  const { userId, email, orgId, acr, groups, claims } = requester;
  return {
    user_id: userId,
    ...(email === undefined ? {} : { email }),
    ...(orgId === undefined ? {} : { org_id: orgId }),
    ...(acr === undefined ? {} : { acr }),
    ...(groups === undefined ? {} : { groups }),
    ...(claims === undefined ? {} : { claims }),
  };
}

/** A request that names no depth comes from outside. */
function taskOf({ id, surface, session, tags }: CallFacts['task']): object {
  const { [depthTag]: depth = '0', ...named } = tags;
  return { id, surface, session, ...named, depth: BigInt(depth) };
}

/** `matches` with RE2. As long as the word that it replaces, so that places in the text stay. */
const linear = 'matchRe';

/** A comment between a value and its method holds the word as well. */
const hiddenMatches = 'write .matches() without a comment before it';

/**
 * The library matches with a pattern engine that can take exponential time and that cannot be replaced, so each
 * `matches` becomes our method.
 */
function withLinearMatches(text: string, ast: ASTNode): string {
  return matchesIn(ast).reduce(
    (done, { name }) => done.slice(0, name) + linear + done.slice(name + linear.length),
    text,
  );
}

/** Returns each call of `matches` with its literal pattern, and the places of the two in the text. */
function matchesIn(node: ASTNode): { pattern: string; at: number; name: number }[] {
  const inside = childrenOf(node).flatMap(matchesIn);
  if (node.op !== 'rcall' || node.args[0] !== 'matches') return inside;
  const [, receiver, [pattern]] = node.args;
  const name = node.input.indexOf('matches', receiver.range.end);
  const text = typeof pattern?.args === 'string' ? pattern.args : '';
  return [...inside, { pattern: text, at: pattern?.pos ?? node.pos, name }];
}

function faultOf(error: unknown): ExpressionFault {
  if (error instanceof ParseError || error instanceof EvaluationError || isTypeError(error)) {
    return { message: error.summary, at: error.range?.start ?? 0 };
  }
  return { message: 'the expression cannot be read', at: 0 };
}

function isTypeError(error: unknown): error is { summary: string; range?: { start: number } } {
  return error instanceof Error && 'summary' in error;
}
