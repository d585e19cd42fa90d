import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** A held call whose approval was decided by people. */
export interface SettledCall {
  args: JsonObject;
  isApproved: boolean;
}

export interface ConditionCandidate {
  /** A condition in CEL. */
  when: string;
  /** Arguments that the condition does not limit, such as `args.memo`. */
  open: string[];
}

/** Maximum number of values that a condition lists for one argument. */
const mostValues = 5;

/** Maximum number of narrowings by one argument each. */
const mostNarrowings = 2;

/** Maximum number of arguments; the time of the search grows with their cube, and a model chooses their names. */
const mostArguments = 50;

/** Maximum number of conditions. */
const mostCandidates = 3;

/** Nested objects below this depth are not limited. */
const deepest = 3;

/**
 * Returns conditions that hold for at least `least` approved calls of a tool and for no rejected one, those for most
 * calls first. Each limits every argument as narrowly as the approved calls allow: to their range of numbers, to their
 * few values, or to its absence. Calls with more than 50 arguments have none. Beginnings of texts are never proposed,
 * since `git status; rm` begins like `git status`.
 *
 * @param members arguments of the tool's schema, such as `args.memo`; the calls may have others
 */
export function conditionCandidates(
  calls: readonly SettledCall[],
  { least, members }: { least: number; members: readonly string[] },
): ConditionCandidate[] {
  const rows = calls.map(({ args, isApproved }) => ({ isApproved, values: valuesIn(args) }));
  const used = rows.flatMap(({ values }) => [...values.keys()]);
  const unused = members.filter((path) => !used.some((one) => one.startsWith(`${path}.`)));
  const paths = [...new Set([...used, ...unused])].toSorted();
  if (paths.length > mostArguments) return [];
  const found = new Map<string, { box: Box; covered: number }>();
  const narrow = (some: readonly Row[], depth: number): void => {
    const approved = some.filter((row) => row.isApproved);
    if (approved.length < least) return;
    const box = boxOf(approved, paths);
    const caught = rows.filter((row) => !row.isApproved && isIn(box, row));
    if (caught.length === 0) {
      const when = textOf(box);
      if (when !== '') found.set(when, { box, covered: approved.length });
      return;
    }
    if (depth === mostNarrowings) return;
    for (const part of partsOf(approved, caught, paths)) narrow(part, depth + 1);
  };
  narrow(rows, 0);
  return [...found]
    .toSorted(([one, a], [other, b]) => b.covered - a.covered || one.localeCompare(other, 'en'))
    .slice(0, mostCandidates)
    .map(([when, { box }]) => ({ when, open: openIn(box) }));
}

interface Row {
  isApproved: boolean;
  values: ReadonlyMap<string, JsonValue>;
}

/** What a condition demands of one argument. */
type Limit =
  | { kind: 'range'; from: string; to: string }
  | { kind: 'values'; values: (string | boolean)[]; isOptional: boolean }
  | { kind: 'absent' }
  | { kind: 'open' };

type Box = ReadonlyMap<string, Limit>;

/** Returns the arguments by their path, such as `args.order.total`; lists and deep objects as one value. */
function valuesIn(args: JsonObject, path = 'args', depth = 1): Map<string, JsonValue> {
  const values = new Map<string, JsonValue>();
  for (const [name, value] of Object.entries(args)) {
    const at = `${path}.${name}`;
    if (isJsonObject(value) && depth < deepest && Object.keys(value).length > 0) {
      for (const [inner, one] of valuesIn(value, at, depth + 1)) values.set(inner, one);
    } else values.set(at, value);
  }
  return values;
}

function boxOf(approved: readonly Row[], paths: readonly string[]): Box {
  return new Map(paths.map((path): [string, Limit] => [path, limitOf(approved, path)]));
}

/** Names that CEL cannot write after a dot are not limited. */
function limitOf(approved: readonly Row[], path: string): Limit {
  if (!/^args(\.[A-Za-z_]\w*)+$/.test(path)) return { kind: 'open' };
  const values = approved.flatMap((row) =>
    // A list is one value, and `null` is one as well.
    row.values.has(path) ? [row.values.get(path) as JsonValue] : [],
  );
  if (values.length === 0) return { kind: 'absent' };
  const isOptional = values.length < approved.length;
  const numbers = values.map(decimalOf);
  if (!isOptional && numbers.every((one) => one !== null)) {
    const sorted = numbers.toSorted((one, other) => Number(one) - Number(other));
    return { kind: 'range', from: sorted[0] ?? '', to: sorted.at(-1) ?? '' };
  }
  const distinct = [...new Set(values)];
  const isFew = distinct.length <= mostValues && distinct.length < values.length;
  if (isFew && distinct.every(isListable)) return { kind: 'values', values: distinct, isOptional };
  return { kind: 'open' };
}

/** Texts from which secrets were removed have no value to compare with. */
function isListable(value: JsonValue): value is string | boolean {
  if (typeof value === 'boolean') return true;
  return typeof value === 'string' && value.length <= 100 && !value.includes('[redacted');
}

/** Returns a number, or a string that is one, in decimal digits; `null` for anything else. */
function decimalOf(value: JsonValue): string | null {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value) : '';
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? text : null;
}

function isIn(box: Box, { values }: Row): boolean {
  return [...box].every(([path, limit]) => {
    const value = values.get(path);
    switch (limit.kind) {
      case 'open':
        return true;
      case 'absent':
        return value === undefined;
      case 'values':
        return value === undefined
          ? limit.isOptional
          : limit.values.includes(value as string | boolean);
      case 'range': {
        const number = numberOf(value);
        return number >= Number(limit.from) && number <= Number(limit.to);
      }
    }
  });
}

/** Returns the number as `double` of CEL reads it; NaN for anything else. */
function numberOf(value: JsonValue | undefined): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN;
}

/** Returns parts of approved calls that differ from rejected ones in one argument. */
function* partsOf(
  approved: readonly Row[],
  caught: readonly Row[],
  paths: readonly string[],
): Generator<Row[]> {
  for (const path of paths) {
    const limit = limitOf(approved, path);
    if (limit.kind === 'values') {
      for (const value of limit.values) {
        yield approved.filter(({ values }) => values.get(path) === value);
      }
      const refused = new Set(caught.map(({ values }) => values.get(path)));
      yield approved.filter(({ values }) => !refused.has(values.get(path)));
    }
    if (limit.kind === 'range') {
      const numberIn = ({ values }: Row) => numberOf(values.get(path));
      const refused = caught.map(numberIn);
      yield approved.filter((row) => numberIn(row) < Math.min(...refused));
      yield approved.filter((row) => numberIn(row) > Math.max(...refused));
    }
  }
}

function textOf(box: Box): string {
  return [...box]
    .flatMap(([path, limit]): string[] => {
      switch (limit.kind) {
        case 'open':
          return [];
        case 'absent':
          return [`!has(${path})`];
        case 'range':
          return rangeText(path, limit);
        case 'values': {
          const listed = `${path} in [${limit.values.map((one) => JSON.stringify(one)).join(', ')}]`;
          return [limit.isOptional ? `(!has(${path}) || ${listed})` : listed];
        }
      }
    })
    .join(' && ');
}

function rangeText(path: string, { from, to }: { from: string; to: string }): string[] {
  const float = (text: string) => (text.includes('.') ? text : `${text}.0`);
  const value = `double(${path})`;
  if (Number(from) === Number(to)) return [`${value} == ${float(from)}`];
  return [`${value} >= ${float(from)}`, `${value} <= ${float(to)}`];
}

function openIn(box: Box): string[] {
  return [...box].flatMap(([path, { kind }]) => (kind === 'open' ? [path] : []));
}
