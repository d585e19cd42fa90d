/** Keys of a chart whose values can carry data rather than structure. */
const dataKeys = new Set(['context', 'input', 'output', 'params', 'meta', 'data']);

/** Keys of a chart under which the author of the chart, not XState, chooses the names. */
const namedMaps = new Set(['states', 'on', 'after']);

const described = new WeakMap<object, string>();

/**
 * Writes a chart's configuration as the JSON that Stately draws: states, events and the names of
 * actions, guards and actors. What could hold data is left out, and a function is its name.
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
