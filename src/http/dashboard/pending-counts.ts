/** How many calls wait in each agent, as it was told last. */
export class PendingCounts {
  readonly #deferrals = new Map<string, ReadonlyMap<string, string>>();

  of(agentId: string): number {
    return this.#deferrals.get(agentId)?.size ?? 0;
  }

  /** Takes in what waits now, each deferral with its task, and returns what has begun and what has ended. */
  update(
    agentId: string,
    now: ReadonlyMap<string, string>,
  ): { begun: string[]; ended: { deferral: string; task: string }[] } {
    const before = this.#deferrals.get(agentId) ?? new Map<string, string>();
    this.#deferrals.set(agentId, now);
    return {
      begun: [...now.keys()].filter((id) => !before.has(id)),
      ended: [...before].flatMap(([deferral, task]) =>
        now.has(deferral) ? [] : [{ deferral, task }],
      ),
    };
  }
}
