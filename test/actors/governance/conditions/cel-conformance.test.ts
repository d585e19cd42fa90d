import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CelOutcome, celCases, outcomeOf } from './cel-outcomes.ts';

type Names = Record<string, string[]>;

/**
 * The known differences of the library, by section and name. `errors`: protobuf messages, enums, extensions and some forms of CEL do
 * not compile or fail, so a condition with them is refused at the start or fails closed. `others`: another value.
 */
const known: { errors: Names; others: Names } = JSON.parse(
  readFileSync(join(import.meta.dirname, 'cel-differences.json'), 'utf8'),
);

const pathsIn = (names: Names) =>
  Object.entries(names).flatMap(([section, cases]) => cases.map((name) => `${section}/${name}`));

describe('the CEL library on the cases of the specification', () => {
  const outcomes = celCases().map((one) => ({ path: one.path, outcome: outcomeOf(one) }));
  const pathsOf = (wanted: CelOutcome) =>
    outcomes.filter(({ outcome }) => outcome === wanted).map(({ path }) => path);

  it('evaluates all cases', () => {
    expect(outcomes).toHaveLength(2_344);
  });

  it('differs only in the known values', () => {
    expect(pathsOf('other').toSorted()).toEqual(pathsIn(known.others).toSorted());
  });

  it('has only the known errors', () => {
    expect(pathsOf('error').toSorted()).toEqual(pathsIn(known.errors).toSorted());
  });
});
