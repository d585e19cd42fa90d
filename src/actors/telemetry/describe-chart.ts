/** Chart keys whose values may contain data rather than structure. */
const dataKeys = new Set(['context', 'input', 'output', 'params', 'meta', 'data']);

/** Chart keys under which the names are chosen by the chart's author, not by XState. */
const namedMaps = new Set(['states', 'on', 'after']);

const described = new WeakMap<object, string>();

/**
 * Serialises a chart's configuration to the JSON that Stately draws: states, events and the names of actions, guards
 * and actors. Possible data is omitted; a function is represented by its name.
 */
export function describeChart(config: object): string {
  const known = described.get(config);
  if (known !== undefined) return known;
  const definition = write(config);
  described.set(config, definition);
  return definition;
}

function write(config: object): string {
  const authored = new WeakSet<object>();
  return JSON.stringify(config, function (this: unknown, key: string, value: unknown) {
    const isAuthored = isObject(this) && authored.has(this);
    if (!isAuthored && dataKeys.has(key)) return undefined;
    if (!isAuthored && namedMaps.has(key) && isObject(value)) authored.add(value);
    if (typeof value === 'function') return { type: value.name };
    if (key === 'src' && isObject(value)) return 'inline';
    return value;
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
