import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import { argumentAt } from '../../../../machines/governance/argument-at.ts';
import type { JsonObject } from '../../../../machines/json.ts';
import { argumentText } from './shown-value.ts';

/** An argument as a list shows it, on one line. */
export interface DecidingArgument {
  name: string;
  value: string;
}

/** Maximum characters of one value in a list. */
const longest = 60;

/** Maximum number of arguments in a list, unless a rule names them. */
const most = 4;

/** Lists the arguments of a call that its rule names, or its short ones; long values are truncated. */
export function decidingArguments({
  args,
  display,
}: Pick<DeferralJson, 'args' | 'display'>): DecidingArgument[] {
  const named = (display ?? []).flatMap((path) => {
    const [, ...names] = path.split('.');
    const value = argumentAt(args as JsonObject, names);
    return value === undefined ? [] : [{ name: names.join('.'), value: shortened(value) }];
  });
  if (named.length > 0) return named;
  const all = Object.entries(args);
  const short = all.filter(([, value]) => isShort(value));
  return (short.length > 0 ? short : all)
    .slice(0, most)
    .map(([name, value]) => ({ name, value: shortened(value) }));
}

/** Structures and long texts say little in one line. */
function isShort(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= longest && !/[\r\n]/.test(value);
  return typeof value !== 'object' || value === null;
}

function shortened(value: unknown): string {
  // Counted by code points, so that no character is cut in half.
  const letters = [
    ...argumentText(value)
      .slice(0, 4 * longest)
      .replaceAll(/\s+/g, ' '),
  ];
  return letters.length > longest ? `${letters.slice(0, longest).join('')} …` : letters.join('');
}
