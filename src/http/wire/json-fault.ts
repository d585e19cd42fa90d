import { type JsonMeasure, measureJson } from '../../machines/exact-json.ts';

/** Maximum nesting of a body (docs/contract/transports.md). */
const deepest = 64;

/** Maximum total number of keys in a body. */
const mostKeys = 100_000;

/** Measures a body up to the limits. */
export function measureBody(text: string): JsonMeasure {
  return measureJson(text, deepest);
}

/** Names the exceeded limit of a JSON text, nesting or keys; `null` if the text may be parsed, valid or not. */
export function jsonFault({ depth, keys }: JsonMeasure): string | null {
  if (depth > deepest) return `the JSON is nested deeper than ${deepest} levels`;
  return keys > mostKeys ? `the JSON has more than ${mostKeys} keys` : null;
}
