import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';

/** What a rule changed of the arguments, at a path in dots, each value as JSON. */
export type ArgumentChange = NonNullable<DeferralJson['changes']>[number];

/** One argument as a person compares it: what the model asked for and what will run. */
export interface ArgumentRow {
  name: string;
  /** What will run; `null` where a rule has removed it. */
  now: string | null;
  /** What the model asked for, where a rule has changed or removed it. */
  before: string | null;
  change: 'none' | 'changed' | 'added' | 'removed';
  /** What a rule changed inside of it. */
  within: readonly ArgumentChange[];
}

/** Lists the arguments of a call, and where a rule has changed them, what they were. */
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

/** What was too long to be kept, or held a secret, need be no JSON. */
function keptText(json: string): string {
  try {
    return argumentText(JSON.parse(json));
  } catch {
    return json;
  }
}

/** Writes a value exactly: text as it is, unless it could be taken for another value, and all else as JSON. */
function argumentText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value, null, 2);
  return isPlain(value) ? value : JSON.stringify(value);
}

function isPlain(text: string): boolean {
  if (text === '' || text.trim() !== text) return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}
