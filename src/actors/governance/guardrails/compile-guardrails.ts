import type { Finding } from '../../../machines/domain/finding.ts';
import type { JsonObject } from '../../../machines/json.ts';
import { ToolMap } from '../../tool-name.ts';
import { callTexts } from './call-texts.ts';
import { type CompiledRule, type CompiledRules, compileRules } from './compile-rules.ts';
import { type NormalForm, normalForm } from './normal-form.ts';
import { PatternSet } from './pattern-set.ts';
import { Redactor } from './redactor.ts';
import type { GuardrailRules, RuleProblem } from './rules.ts';
import { unitKinds } from './unit-kinds.ts';

/** Result of the guardrails for a call or prompt: the reason of a denial or `null`, and the rule. */
export interface Checked {
  denial: string | null;
  findings: Finding[];
}

/** Result of the guardrails for an answer or a tool's result. */
export type CheckedOutput =
  | { kind: 'passed'; text: string; findings: [] }
  | { kind: 'redacted'; text: string; findings: Finding[] }
  | { kind: 'blocked'; denial: string; findings: Finding[] };

/**
 * The guardrails of an agent (docs/contract/governance.md). No check throws: content that cannot be checked is denied
 * or blocked, with `check failed` as its rule. A check ends at the first rule that denies.
 */
export interface Guardrails {
  /** The source rules. */
  readonly rules: GuardrailRules;
  checkCall(tool: string, args: JsonObject): Checked;
  /** Checks the texts of a prompt; they are generated only if there is a rule. */
  checkPrompt(texts: () => Iterable<string>): Checked;
  checkOutput(text: string): CheckedOutput;
  /** Replaces matches of the named `redact` rules in a string for people and logs. May throw. */
  redactNamed(text: string): string;
}

/** Compiles rules, or returns a problem for each invalid rule. Never throws. */
export function compileGuardrails(
  rules: GuardrailRules,
): { ok: true; guardrails: Guardrails } | { ok: false; problems: RuleProblem[] } {
  try {
    const { problems, ...compiled } = compileRules(rules);
    if (problems.length > 0) return { ok: false, problems };
    return { ok: true, guardrails: new RuleGuardrails(rules, compiled) };
  } catch {
    const message = 'the guardrails could not be compiled; look for a rule of an unusual form';
    return { ok: false, problems: [{ path: [], message }] };
  }
}

class RuleGuardrails implements Guardrails {
  readonly rules: GuardrailRules;
  private readonly tools: ToolMap<string>;
  private readonly commands: Gate;
  private readonly prompts: Gate;
  private readonly blocks: Gate;
  private readonly redactor: Redactor;
  private readonly named: Redactor | null;
  private readonly looksAtOutput: boolean;

  constructor(written: GuardrailRules, rules: CompiledRules) {
    this.rules = written;
    this.tools = new ToolMap(rules.tools.map(({ name, rule }) => [name, rule]));
    this.commands = new Gate(rules.commands);
    this.prompts = new Gate(rules.prompts);
    this.blocks = new Gate(rules.blocks);
    this.redactor = new Redactor(rules);
    this.named = rules.redact.length === 0 ? null : new Redactor({ ...rules, redactions: [] });
    // Built at start-up, so that no request waits for it.
    unitKinds();
    this.looksAtOutput = rules.blocks.length + rules.redactions.length + rules.redact.length > 0;
  }

  checkCall(tool: string, args: JsonObject): Checked {
    return closed('deny_commands', 'call', () => {
      const toolRule = this.tools.get(tool);
      if (toolRule !== undefined) {
        const findings: Finding[] = [{ gate: 'denied_tools', decision: 'deny', rule: toolRule }];
        return { denial: denialOf(`${tool} is a denied tool`), findings };
      }
      return denied(
        'deny_commands',
        this.commands.first(() => callTexts(tool, args)),
      );
    });
  }

  checkPrompt(texts: () => Iterable<string>): Checked {
    return closed('deny_prompts', 'prompt', () =>
      denied('deny_prompts', this.prompts.first(texts)),
    );
  }

  checkOutput(text: string): CheckedOutput {
    try {
      if (!this.looksAtOutput) return { kind: 'passed', text, findings: [] };
      const normal = normalForm(text);
      const block = this.blocks.firstIn(text, normal);
      if (block) return blocked(block.shown, block.rule);
      const redacted = this.redactor.redact(text, normal);
      if (redacted.findings.length === 0) return { kind: 'passed', text, findings: [] };
      return { kind: 'redacted', ...redacted };
    } catch {
      return blocked('the output could not be checked', failed);
    }
  }

  redactNamed(text: string): string {
    return this.named?.redact(text, normalForm(text)).text ?? text;
  }
}

/** Up to this many texts are matched one by one; more are first matched as one joined text. */
const mostSingle = 64;

/** The rules of one gate, matched together. */
class Gate {
  private readonly rules: readonly CompiledRule[];
  private readonly patterns: PatternSet;
  private readonly isAnchored: boolean;

  constructor(rules: readonly CompiledRule[]) {
    this.rules = rules;
    this.patterns = new PatternSet(rules.map(({ pattern }) => pattern));
    this.isAnchored = rules.some(({ pattern }) => pattern.isAnchored);
  }

  /** Returns the first rule that matches one of the texts; generates them only if there is a rule. */
  first(texts: () => Iterable<string>): CompiledRule | null {
    if (this.rules.length === 0) return null;
    const all = [...texts()];
    if (all.length > mostSingle && !this.isAnchored) {
      const together = all.join('\n');
      if (this.firstIn(together, normalForm(together)) === null) return null;
    }
    let first = Number.POSITIVE_INFINITY;
    for (const text of all) first = Math.min(first, this.placeIn(text, normalForm(text)));
    return this.ruleAt(first);
  }

  /** Returns the first rule that matches a string, either as written or in its normal form. */
  firstIn(text: string, normal: NormalForm | null): CompiledRule | null {
    return this.ruleAt(this.placeIn(text, normal));
  }

  private placeIn(text: string, normal: NormalForm | null): number {
    const forms = normal === null ? [text] : [text, normal.text];
    return Math.min(
      ...forms.map((form) => this.patterns.firstMatch(form) ?? Number.POSITIVE_INFINITY),
    );
  }

  private ruleAt(place: number): CompiledRule | null {
    if (place === Number.POSITIVE_INFINITY) return null;
    const rule = this.rules[place];
    if (rule === undefined) throw new RangeError(`there is no rule ${place}`);
    return rule;
  }
}

/** Rule name in the findings of a failed check. */
const failed = 'check failed';

function closed(gate: Finding['gate'], thing: string, check: () => Checked): Checked {
  try {
    return check();
  } catch {
    const findings: Finding[] = [{ gate, decision: 'deny', rule: failed }];
    return { denial: denialOf(`the ${thing} could not be checked`), findings };
  }
}

function denied(gate: Finding['gate'], rule: CompiledRule | null): Checked {
  if (rule === null) return { denial: null, findings: [] };
  return { denial: denialOf(rule.shown), findings: [{ gate, decision: 'deny', rule: rule.rule }] };
}

function blocked(told: string, rule: string): CheckedOutput {
  const findings: Finding[] = [{ gate: 'deny_output', decision: 'block', rule }];
  return { kind: 'blocked', denial: denialOf(told), findings };
}

function denialOf(told: string): string {
  return `denied by guardrail: ${told}`;
}
