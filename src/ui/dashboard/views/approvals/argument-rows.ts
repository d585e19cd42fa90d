import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import {
  argumentText,
  differenceOf,
  type LinesLeft,
  linesOfCall,
  partsOf,
  type ShownValue,
} from './shown-value.ts';

/** A rule's change of one argument at a dotted path, with values as JSON. */
export type ArgumentChange = NonNullable<DeferralJson['changes']>[number];

/** One argument for comparison: the model's value and the value that will run. */
export interface ArgumentRow {
  name: string;
  /** The value that will run, or its difference to the model's; `null` if a rule removed it. */
  now: ShownValue | null;
  /** The model's value if a rule changed or removed it and it is not part of a difference. */
  before: string | null;
  change: 'none' | 'changed' | 'added' | 'removed';
  /** A rule's changes inside the value. */
  within: readonly ArgumentChange[];
}

/** Lists a call's arguments, with the original values of those that a rule changed. */
export function argumentRows(
  args: Record<string, unknown>,
  changes: readonly ArgumentChange[] = [],
): ArgumentRow[] {
  const whole = new Map(changes.map((change) => [change.path, change]));
  const left = linesOfCall();
  const shown = partsOf(args, { isAlone: (name) => whole.has(name), left });
  const gone = changes.flatMap(({ path, before, after }): ArgumentRow[] =>
    after !== undefined || path.includes('.') || Object.hasOwn(args, path)
      ? []
      : [{ name: path, now: null, before: textOf(before), change: 'removed', within: [] }],
  );
  const kept = shown.map(({ name, value: now }): ArgumentRow => {
    const change = whole.get(name);
    if (change === undefined) {
      const within = changes.filter(({ path }) => path.startsWith(`${name}.`));
      return { name, now, before: null, change: 'none', within };
    }
    if (change.before === undefined)
      return { name, now, before: null, change: 'added', within: [] };
    const difference = differenceTo(change.before, args[name], left);
    const before = difference === null ? textOf(change.before) : null;
    return { name, now: difference ?? now, before, change: 'changed', within: [] };
  });
  return [...kept, ...gone];
}

/** The difference between a string that a rule changed and the one that will run; `null` for other values. */
function differenceTo(before: string, now: unknown, left: LinesLeft): ShownValue | null {
  const was = valueOf(before);
  if (typeof was !== 'string' || typeof now !== 'string') return null;
  return was.includes('\n') || now.includes('\n') ? differenceOf(was, now, left) : null;
}

function textOf(json: string | undefined): string | null {
  if (json === undefined) return null;
  const value = valueOf(json);
  return value === undefined ? json : argumentText(value);
}

/** A truncated or redacted value may not be valid JSON. */
function valueOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
