import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';

/** Returns what takes out of a text what neither people nor logs may see; it throws where that cannot be looked for. */
export function hiding(
  scrub: (text: string) => string,
  guardrails: Pick<Guardrails, 'redactNamed'> | null,
): (text: string) => string {
  return (text) => {
    const clean = scrub(text);
    return guardrails?.redactNamed(clean) ?? clean;
  };
}

/** Stands for arguments in which secrets could not be looked for. */
const unscrubbed = '[left out: secrets could not be looked for]';

/**
 * Returns arguments as people and logs are shown them: `hide` replaces what may not be seen in each name and value. Never
 * throws; where `hide` does, nothing is shown.
 */
export function shownArguments(args: JsonObject, hide: (text: string) => string): JsonObject {
  try {
    const whole = JSON.stringify(args);
    if (hide(whole) === whole) return args;
    return shownMembers(args, hide);
  } catch {
    return { arguments: unscrubbed };
  }
}

/** Some secrets are known by the name beside them, so a text is looked at with its name. */
function shownMember(name: string, value: JsonValue, hide: (text: string) => string): JsonValue {
  if (typeof value === 'string') {
    const alone = hide(value);
    const before = `${name}: `;
    const beside = hide(`${before}${value}`);
    if (hide(before) !== before || beside === `${before}${alone}`) return alone;
    return beside.startsWith(before) ? beside.slice(before.length) : beside;
  }
  if (typeof value === 'number') {
    const text = JSON.stringify(value);
    const said = hide(text);
    return said === text ? value : said;
  }
  if (Array.isArray(value)) return value.map((item) => shownMember(name, item, hide));
  if (!isJsonObject(value)) return value;
  return shownMembers(value, hide);
}

/** Gives names that become equal a number, so that no member hides another. */
function shownMembers(object: JsonObject, hide: (text: string) => string): JsonObject {
  const shown = new Map<string, JsonValue>();
  for (const [key, value] of Object.entries(object)) {
    const name = hide(key);
    let free = name;
    for (let other = 2; shown.has(free); other += 1) free = `${name}~${other}`;
    shown.set(free, shownMember(key, value, hide));
  }
  return Object.fromEntries(shown);
}
