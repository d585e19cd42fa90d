import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';
import type { Finding } from '../../../machines/domain/finding.ts';
import type { CompiledRules } from './compile-rules.ts';
import { findSpans, type Span } from './find-spans.ts';
import { readGuardrailPattern } from './guardrail-pattern.ts';
import type { NormalForm } from './normal-form.ts';
import { PatternSet } from './pattern-set.ts';
import type { RedactionRule } from './redaction-rule.ts';
import { redactionRules } from './redaction-rules.ts';

/** One replacing rule, configured or built in. */
interface Step {
  source: string;
  by: string;
  narrow: RedactionRule['narrow'];
  isInOneLine: boolean;
  finding: Finding;
}

/** Maximum number of cached compiled expressions. */
const keptExpressions = 500;

/**
 * Replaces the matches of redaction rules. Every rule sees the original text and its normal form, so no rule can hide a
 * match from another; overlapping spans are replaced together.
 */
export class Redactor {
  private readonly steps: Step[];
  private readonly patterns: PatternSet;
  private readonly expressions = new LRUCache<number, RE2JS>({ max: keptExpressions });

  constructor({ redactions, redact }: Pick<CompiledRules, 'redactions' | 'redact'>) {
    const written = redactions.map(({ rule, pattern }): Step & { pattern: typeof pattern } => ({
      source: pattern.source,
      by: '[redacted]',
      narrow: undefined,
      isInOneLine: false,
      finding: { gate: 'deny_output', decision: 'redact', rule },
      pattern,
    }));
    const steps = [...written, ...builtInSteps(redact)];
    this.steps = steps;
    this.patterns = new PatternSet(steps.map(({ pattern }) => pattern));
  }

  /**
   * Returns the text with all matches replaced, and one finding for each rule that matched. `normal` is the normal form
   * of the text; `null` if it equals the text.
   */
  redact(text: string, normal: NormalForm | null): { text: string; findings: Finding[] } {
    const plain = this.patterns.allMatches(text);
    const folded = normal === null ? [] : this.patterns.allMatches(normal.text);
    const found = [...new Set([...plain, ...folded])]
      .toSorted((one, other) => one - other)
      .flatMap((index) => {
        const step = this.steps[index];
        if (step === undefined) throw new RangeError(`there is no rule ${index}`);
        const behind =
          normal !== null && folded.includes(index) ? this.behind(step, index, normal) : [];
        const seen = plain.includes(index) ? this.spansOf(step, index, text, true) : [];
        const spans = [...besideEscapes(seen, behind, normal), ...behind];
        return spans.length === 0 ? [] : [{ step, spans }];
      });
    const replacements = found.flatMap(({ step, spans }) =>
      spans.map((span) => ({ ...span, by: step.by })),
    );
    return {
      text: replaceSpans(text, replacements),
      findings: found.map(({ step }) => step.finding),
    };
  }

  /** Searches the normal form of a string, and maps the spans to the original text. */
  private behind(step: Step, index: number, normal: NormalForm): Span[] {
    const text = step.isInOneLine ? normal.lined() : normal.text;
    const spans = this.spansOf(step, index, text, text === normal.text);
    return spans.map((span) => normal.sourceOf(span));
  }

  private spansOf(
    { source, narrow }: Step,
    index: number,
    text: string,
    hasMatched: boolean,
  ): Span[] {
    let expression = this.expressions.get(index);
    if (expression === undefined) {
      expression = RE2JS.compile(source);
      this.expressions.set(index, expression);
    }
    const { spans, unsearchedFrom } = findSpans(expression, text);
    // The pattern set has already reported a match, so text that could not be located or searched is hidden.
    const hiddenFrom = spans.length === 0 && hasMatched ? 0 : unsearchedFrom;
    const meant = narrow ? spans.flatMap((span) => narrow(text, span)) : spans;
    return hiddenFrom === null ? meant : [...meant, { start: hiddenFrom, end: text.length }];
  }
}

/**
 * A match may start with the letter of an escape, as in `\\nann@example.com`. It is moved behind the escape if the same
 * rule also finds it there in the normal form.
 */
function besideEscapes(
  spans: readonly Span[],
  behind: readonly Span[],
  normal: NormalForm | null,
): Span[] {
  if (normal === null) return [...spans];
  const starts = new Set(behind.map(({ start }) => start));
  return spans.map(({ start, end }) => {
    const behindEscape = normal.escapeAround(start)?.end ?? end;
    return { start: behindEscape < end && starts.has(behindEscape) ? behindEscape : start, end };
  });
}

function builtInSteps(redact: CompiledRules['redact']) {
  const sources = new Map<RedactionRule, string>();
  for (const { source, name } of redact) {
    for (const rule of redactionRules([name])) {
      if (!sources.has(rule)) sources.set(rule, source);
    }
  }
  return [...sources].map(([{ name, pattern: written, narrow, isInOneLine = false }, source]) => {
    const pattern = readGuardrailPattern(written);
    if ('problem' in pattern) throw new Error(`redaction rule ${name}: ${pattern.problem}`);
    const finding: Finding = {
      gate: 'redact',
      decision: 'redact',
      rule: `${source}redact.${name}`,
    };
    return { source: written, by: `[redacted:${name}]`, narrow, isInOneLine, finding, pattern };
  });
}

/** A span of a string and its replacement. */
interface Replacement extends Span {
  by: string;
}

/**
 * Replaces each span. Overlapping spans are merged and get the replacement of the first one in the given list, so that
 * no rule leaves a remainder of another rule's match.
 */
export function replaceSpans(text: string, replacements: readonly Replacement[]): string {
  const inOrder = replacements
    .map((replacement, rank) => ({ ...replacement, rank }))
    .sort((one, other) => one.start - other.start);
  const merged: typeof inOrder = [];
  for (const next of inOrder) {
    const last = merged.at(-1);
    if (last === undefined || next.start >= last.end) merged.push(next);
    else {
      last.end = Math.max(last.end, next.end);
      if (next.rank < last.rank) [last.rank, last.by] = [next.rank, next.by];
    }
  }
  const pieces: string[] = [];
  let shown = 0;
  for (const { start, end, by } of merged) {
    pieces.push(text.slice(shown, start), by);
    shown = end;
  }
  return pieces.join('') + text.slice(shown);
}
