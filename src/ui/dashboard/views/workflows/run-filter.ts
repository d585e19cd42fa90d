import type { WorkflowRun } from './group-workflows.ts';

/** Which runs are shown; an empty text lets all of them through. */
export interface RunFilter {
  state: string;
  agent: string;
  workflow: string;
  /** Part of the id of an execution. */
  execution: string;
}

/** Reads a filter from an address. */
export function readRunFilter(query: URLSearchParams): RunFilter {
  return {
    state: query.get('state') ?? '',
    agent: query.get('agent') ?? '',
    workflow: query.get('workflow_id') ?? '',
    execution: query.get('workflow_execution_id') ?? '',
  };
}

/** Writes the address of the runs with a filter. */
export function hrefOfRuns({ state, agent, workflow, execution }: RunFilter): string {
  const query = new URLSearchParams();
  if (state !== '') query.set('state', state);
  if (agent !== '') query.set('agent', agent);
  if (workflow !== '') query.set('workflow_id', workflow);
  if (execution !== '') query.set('workflow_execution_id', execution);
  return query.size === 0 ? '#/workflows' : `#/workflows?${query}`;
}

/** Says whether a filter lets a run through. */
export function letsThrough(filter: RunFilter, run: WorkflowRun): boolean {
  return (
    (filter.state === '' || run.state === filter.state) &&
    (filter.agent === '' || run.agents.includes(filter.agent)) &&
    (filter.workflow === '' || run.workflows.includes(filter.workflow)) &&
    run.id.includes(filter.execution)
  );
}
