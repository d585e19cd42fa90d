import { isBetween } from '../../components/local-time.ts';
import type { ListedTask } from './task-order.ts';

/** The filter of a task list; an empty text matches everything. */
export interface TaskFilter {
  state: string;
  agent: string;
  /** The tool of a held call. */
  tool: string;
  /** Id of a workflow execution. */
  execution: string;
  /** Ends of the range of creation: RFC 3339, or a duration before now such as `7d`. */
  from: string;
  to: string;
}

/** Reads a filter from a URL. */
export function readFilter(query: URLSearchParams): TaskFilter {
  return {
    state: query.get('state') ?? '',
    agent: query.get('agent') ?? '',
    tool: query.get('tool') ?? '',
    execution: query.get('workflow_execution_id') ?? '',
    from: query.get('from') ?? '',
    to: query.get('to') ?? '',
  };
}

/** Returns the URL of the list with a filter. */
export function hrefOfFilter({ agent, ...filter }: TaskFilter): string {
  const query = queryOf(filter);
  if (agent !== '') query.set('agent', agent);
  return query.size === 0 ? '#/tasks' : `#/tasks?${query}`;
}

/** Builds the query for an agent. */
export function queryOf({
  state,
  tool,
  execution,
  from,
  to,
}: Omit<TaskFilter, 'agent'>): URLSearchParams {
  const query = new URLSearchParams();
  if (state !== '') query.set('state', state);
  if (tool !== '') query.set('tool', tool);
  if (execution !== '') query.set('workflow_execution_id', execution);
  if (from !== '') query.set('from', from);
  if (to !== '') query.set('to', to);
  return query;
}

/** Returns true if a changed task matches a filter. */
export function passes(task: ListedTask, filter: TaskFilter): boolean {
  return (
    (filter.state === '' || task.state === filter.state) &&
    (filter.agent === '' || task.agent === filter.agent) &&
    (filter.execution === '' || task.workflow?.workflow_execution_id === filter.execution) &&
    (filter.tool === '' || task.tool === filter.tool) &&
    isBetween(task.created_at, filter)
  );
}
