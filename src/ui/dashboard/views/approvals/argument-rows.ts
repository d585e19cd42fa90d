/** One argument as a person compares it: what the model asked for and what will run. */
export interface ArgumentRow {
  name: string;
  /** What will run; `null` where a rule has removed it. */
  now: string | null;
  /** What the model asked for, where a rule has changed, added or removed it. */
  before: string | null;
  change: 'none' | 'changed' | 'added' | 'removed';
}

/** Lists the arguments of a call, and where a rule has changed them, what they were. */
export function argumentRows(
  args: Record<string, unknown>,
  before: Record<string, unknown> = args,
): ArgumentRow[] {
  const names = new Set([...Object.keys(args), ...Object.keys(before)]);
  return [...names].map((name): ArgumentRow => {
    const now = Object.hasOwn(args, name) ? argumentText(args[name]) : null;
    const was = Object.hasOwn(before, name) ? argumentText(before[name]) : null;
    if (now === was) return { name, now, before: null, change: 'none' };
    if (was === null) return { name, now, before: null, change: 'added' };
    return { name, now, before: was, change: now === null ? 'removed' : 'changed' };
  });
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
