import type { WorkflowRun } from './group-workflows.ts';

/** The filter of the runs; an empty text matches everything. */
export interface RunFilter {
  state: string;
  agent: string;
  workflow: string;
  /** Part of an execution ID. */
  execution: string;
}

/** Reads a filter from a URL. */
export function readRunFilter(query: URLSearchParams): RunFilter {
  return {
    state: query.get('state') ?? '',
    agent: query.get('agent') ?? '',
    workflow: query.get('workflow_id') ?? '',
    execution: query.get('workflow_execution_id') ?? '',
  };
}

/** Returns the URL of the runs with a filter. */
export function hrefOfRuns({ state, agent, workflow, execution }: RunFilter): string {
  const query = new URLSearchParams();
  if (state !== '') query.set('state', state);
  if (agent !== '') query.set('agent', agent);
  if (workflow !== '') query.set('workflow_id', workflow);
  if (execution !== '') query.set('workflow_execution_id', execution);
  return query.size === 0 ? '#/workflows' : `#/workflows?${query}`;
}

/** Returns true if a run matches a filter. */
export function letsThrough(filter: RunFilter, run: WorkflowRun): boolean {
  return (
    (filter.state === '' || run.state === filter.state) &&
    (filter.agent === '' || run.agents.includes(filter.agent)) &&
    (filter.workflow === '' || run.workflows.includes(filter.workflow)) &&
    run.id.includes(filter.execution)
  );
}
