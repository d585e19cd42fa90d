import { RE2JS } from 're2js';
import { maximumSize, patternProblem, tooLarge } from './guardrail-pattern.ts';

/** A pattern that is matched in linear time. */
export interface LinearPattern {
  test: (text: string) => boolean;
  toString: () => string;
}

/**
 * Compiles a JavaScript pattern, as used by JSON Schema, with RE2. Throws an Error with the reason if the pattern has
 * no linear form.
 */
export function linearPattern(source: string): LinearPattern {
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(RE2JS.translateRegExp(source));
  } catch (error) {
    throw new Error(`${patternProblem(error)} (${source})`, { cause: error });
  }
  if (compiled.programSize() > maximumSize) throw new Error(`${tooLarge} (${source})`);
  return { test: (text) => compiled.test(text), toString: () => source };
}
