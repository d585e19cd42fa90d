import type { ListedTask } from './task-order.ts';

/** Which tasks a list shows; an empty text lets all of them through. */
export interface TaskFilter {
  state: string;
  agent: string;
  /** The tool of a call that waits. */
  tool: string;
  /** Id of a workflow execution. */
  execution: string;
}

/** Reads a filter from an address. */
export function readFilter(query: URLSearchParams): TaskFilter {
  return {
    state: query.get('state') ?? '',
    agent: query.get('agent') ?? '',
    tool: query.get('tool') ?? '',
    execution: query.get('workflow_execution_id') ?? '',
  };
}

/** Writes the address of the list with a filter. */
export function hrefOfFilter({ agent, ...filter }: TaskFilter): string {
  const query = queryOf(filter);
  if (agent !== '') query.set('agent', agent);
  return query.size === 0 ? '#/tasks' : `#/tasks?${query}`;
}

/** Writes what an agent is asked for. */
export function queryOf({ state, tool, execution }: Omit<TaskFilter, 'agent'>): URLSearchParams {
  const query = new URLSearchParams();
  if (state !== '') query.set('state', state);
  if (tool !== '') query.set('tool', tool);
  if (execution !== '') query.set('workflow_execution_id', execution);
  return query;
}

/** Says whether a filter lets a task through that has just changed. */
export function passes(task: ListedTask, filter: TaskFilter): boolean {
  return (
    (filter.state === '' || task.state === filter.state) &&
    (filter.agent === '' || task.agent === filter.agent) &&
    (filter.execution === '' || task.workflow?.workflow_execution_id === filter.execution) &&
    (filter.tool === '' || task.tool === filter.tool)
  );
}
