/** Returns a tool name as rules compare it: hyphens and underscores are equivalent (docs/contract/configuration.md). */
export function normalName(tool: string): string {
  return tool.replaceAll('_', '-');
}

/** Values of tools and of patterns. Both spellings of a name find the same values. */
export class ToolMap<Value> {
  readonly #named: ReadonlyMap<string, Value>;
  readonly #patterns: readonly (readonly [pattern: string, value: Value])[];

  /** Of two entries of one name the first counts. */
  constructor(entries: readonly (readonly [tool: string, value: Value])[]) {
    this.#named = new Map(entries.toReversed().map(([tool, value]) => [normalName(tool), value]));
    this.#patterns = entries.filter(([tool]) => tool.includes('*'));
  }

  has(tool: string): boolean {
    return this.get(tool) !== undefined;
  }

  /** Returns the value of the tool's own name, else that of the first pattern that matches it. */
  get(tool: string): Value | undefined {
    return this.named(tool) ?? this.matching(tool)[0];
  }

  /** Returns the value of the tool's own name. */
  named(tool: string): Value | undefined {
    return this.#named.get(normalName(tool));
  }

  /** Returns the value of the tool's own name, and then those of the patterns that match it. */
  all(tool: string): Value[] {
    const named = this.named(tool);
    return [...(named === undefined ? [] : [named]), ...this.matching(tool)];
  }

  /** Returns the values of the patterns that match a tool, in their order. A pattern does not match itself. */
  matching(tool: string): Value[] {
    return this.#patterns
      .filter(([pattern]) => normalName(pattern) !== normalName(tool) && matchesName(pattern, tool))
      .map(([, value]) => value);
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
