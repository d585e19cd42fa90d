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
