import { onDestroy, untrack } from 'svelte';
import type { AgentJson } from '../../../../http/wire/dashboard/agent-json.ts';
import type { Dashboard } from '../../start-dashboard.ts';
import { Observed } from '../../state/observed.ts';
import { startProcess } from './agent-process.ts';

/** The process of one agent in a component, until the component is destroyed. Its properties are reactive. */
export class ShownProcess {
  readonly actor: ReturnType<typeof startProcess>;
  readonly #observed: Observed<ReturnType<ReturnType<typeof startProcess>['getSnapshot']>>;

  /** `shown` is read once. */
  constructor(shown: () => { agent: AgentJson; dashboard: Dashboard }) {
    const { agent, dashboard } = untrack(shown);
    this.actor = startProcess(dashboard.client, agent.id);
    this.#observed = new Observed(this.actor);
    onDestroy(() => this.actor.stop());
  }

  get current() {
    return this.#observed.current;
  }

  /** The problem of the last request; `null` without one, or while the page asks for the passphrase. */
  get problem(): string | null {
    const isAsking = this.current.matches('askingPassphrase') || this.current.matches('unlocking');
    return isAsking ? null : this.current.context.problem;
  }
}
