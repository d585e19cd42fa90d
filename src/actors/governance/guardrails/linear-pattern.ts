import { RE2JS } from 're2js';
import { maximumSize, patternProblem, tooLarge } from './guardrail-pattern.ts';

/** A pattern that is found in a text in linear time. */
export interface LinearPattern {
  test: (text: string) => boolean;
  toString: () => string;
}

/**
 * Compiles a pattern in the syntax of JavaScript, as JSON Schemas have it, with RE2. Throws an Error that says why the
 * pattern has no linear form.
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
