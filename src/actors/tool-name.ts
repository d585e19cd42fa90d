/** Returns a tool name as rules compare it: hyphens and underscores are equivalent (docs/contract/configuration.md). */
export function normalName(tool: string): string {
  return tool.replaceAll('_', '-');
}

/** Values by tool name, found under either spelling. */
export class ToolMap<Value> {
  readonly #values: ReadonlyMap<string, Value>;

  /** Of two entries for one tool the first wins. */
  constructor(entries: readonly (readonly [tool: string, value: Value])[]) {
    this.#values = new Map(entries.toReversed().map(([tool, value]) => [normalName(tool), value]));
  }

  has(tool: string): boolean {
    return this.#values.has(normalName(tool));
  }

  get(tool: string): Value | undefined {
    return this.#values.get(normalName(tool));
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
