/** Returns a tool name as rules compare it: hyphens and underscores are equivalent (docs/contract/configuration.md). */
export function normalName(tool: string): string {
  return tool.replaceAll('_', '-');
}

/**
 * Values by tool name, found under either spelling. A value of a pattern counts for tools without a value of their own
 * name; of several patterns the first counts.
 */
export class ToolMap<Value> {
  readonly #values: ReadonlyMap<string, Value>;
  readonly #patterns: readonly string[];

  /** Of two entries for one tool the first wins. */
  constructor(entries: readonly (readonly [tool: string, value: Value])[]) {
    this.#values = new Map(entries.toReversed().map(([tool, value]) => [normalName(tool), value]));
    const names = entries.map(([tool]) => normalName(tool));
    this.#patterns = names.filter((name) => name.includes('*'));
  }

  has(tool: string): boolean {
    return this.#values.has(this.#keyOf(tool));
  }

  get(tool: string): Value | undefined {
    return this.#values.get(this.#keyOf(tool));
  }

  #keyOf(tool: string): string {
    const name = normalName(tool);
    if (this.#values.has(name)) return name;
    return this.#patterns.find((pattern) => matchesName(pattern, name)) ?? name;
  }
}

/** Returns whether a name, or a pattern in which `*` stands for any characters, matches a tool name. */
export function matchesName(pattern: string, tool: string): boolean {
  if (!pattern.includes('*')) return normalName(pattern) === normalName(tool);
  const [first = '', ...rest] = normalName(pattern).split('*');
  const last = rest.pop() ?? '';
  const name = normalName(tool);
  if (name.length < first.length + last.length) return false;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** Returns whether a name or a pattern can match a tool name with a prefix. */
export function matchesPrefix(pattern: string, prefix: string): boolean {
  const [first = ''] = normalName(pattern).split('*');
  const start = normalName(prefix);
  return first.startsWith(start) || (pattern.includes('*') && start.startsWith(first));
}
