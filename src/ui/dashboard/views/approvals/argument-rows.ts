import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import { parseJson } from '../../../../machines/json.ts';

/** A rule's change of one argument at a dotted path, with values as JSON. */
export type ArgumentChange = NonNullable<DeferralJson['changes']>[number];

/** One argument for comparison: the model's value and the value that will run. */
export interface ArgumentRow {
  name: string;
  /** The value that will run; `null` if a rule removed it. */
  now: string | null;
  /** The model's value if a rule changed or removed it. */
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
  const gone = changes.filter(({ path, after }) => after === undefined && !path.includes('.'));
  const names = new Set([...Object.keys(args), ...gone.map(({ path }) => path)]);
  return [...names].map((name): ArgumentRow => {
    const now = Object.hasOwn(args, name) ? argumentText(args[name]) : null;
    const change = whole.get(name);
    if (change === undefined) {
      const within = changes.filter(({ path }) => path.startsWith(`${name}.`));
      return { name, now, before: null, change: 'none', within };
    }
    if (change.before === undefined)
      return { name, now, before: null, change: 'added', within: [] };
    const before = keptText(change.before);
    return { name, now, before, change: now === null ? 'removed' : 'changed', within: [] };
  });
}

/** A truncated or redacted value may not be valid JSON. */
function keptText(json: string): string {
  try {
    return argumentText(JSON.parse(json));
  } catch {
    return json;
  }
}

/**
 * Formats a value unambiguously: text as is, unless it could be confused with another value, and everything else as
 * JSON.
 */
export function argumentText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2);
  return isPlain(value) ? value : JSON.stringify(value);
}

function isPlain(text: string): boolean {
  return text !== '' && text.trim() === text && parseJson(text) === undefined;
}
