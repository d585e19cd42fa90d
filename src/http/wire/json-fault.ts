import { type JsonMeasure, measureJson } from '../../machines/exact-json.ts';

/** Deepest nesting of a body (docs/contract/transports.md). */
const deepest = 64;

/** Most keys of all objects of a body together. */
const mostKeys = 100_000;

/** Measures a body as far as it may be read. */
export function measureBody(text: string): JsonMeasure {
  return measureJson(text, deepest);
}

/** Names the limit that a JSON text exceeds, nesting or keys; `null` when it may be parsed, valid or not. */
export function jsonFault({ depth, keys }: JsonMeasure): string | null {
  if (depth > deepest) return `the JSON is nested deeper than ${deepest} levels`;
  return keys > mostKeys ? `the JSON has more than ${mostKeys} keys` : null;
}
