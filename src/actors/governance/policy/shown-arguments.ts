import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';

/** Returns a function that redacts a string for people and logs; it throws if secrets cannot be searched for. */
export function hiding(
  scrub: (text: string) => string,
  guardrails: Pick<Guardrails, 'redactNamed'> | null,
): (text: string) => string {
  return (text) => {
    const clean = scrub(text);
    return guardrails?.redactNamed(clean) ?? clean;
  };
}

/** Placeholder for arguments that could not be searched for secrets. */
const unscrubbed = '[omitted: the search for secrets failed]';

/**
 * Returns arguments redacted for people and logs: `hide` is applied to each name and value. Never throws; if `hide`
 * throws, no argument is shown.
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

/** Some secrets are recognised by the name before them, so a string is checked together with its name. */
function shownMember(name: string, value: JsonValue, hide: (text: string) => string): JsonValue {
  if (typeof value === 'string') {
    const alone = hide(value);
    const before = `${name}: `;
    const hidden = hide(`${before}${value}`);
    if (hide(before) !== before || hidden === `${before}${alone}`) return alone;
    return hidden.startsWith(before) ? hidden.slice(before.length) : hidden;
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

/** Numbers names that become equal by redaction, so that no member replaces another. */
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
