import type { TaskDetailJson } from '../../src/http/wire/dashboard/task-detail-json.ts';
import type { TaskRowJson } from '../../src/http/wire/dashboard/task-row-json.ts';
import type { PageServer } from './page-server.ts';
import { taskStories } from './task-stories.ts';

/** The step of a workflow that each of them belongs to. */
const steps: Record<string, [execution: string, stage: string, step: string]> = {
  'refund-1': ['week-47', 'pay', 'refund'],
  'refund-2': ['week-47', 'pay', 'refund'],
  'refund-3': ['week-47', 'check', 'photo'],
  'refund-4': ['week-46', 'check', 'photo'],
};

/** Gives the server these tasks, steps of two workflows, and to each other agent that runs none. */
export function tellTasks({ agents, routes }: Pick<PageServer, 'agents' | 'routes'>): void {
  const stories = taskStories(Date.now());
  const rows = stories.map((story): TaskRowJson => {
    const [workflow_execution_id, stage_id, step_id] = steps[story.id] ?? ['', '', ''];
    const workflow = { workflow_id: 'refund-desk', workflow_execution_id, stage_id, step_id };
    return { ...rowOf(story), workflow };
  });
  for (const { id } of agents) {
    const tasks = id === 'refunds' ? rows : [];
    routes.set(`GET /api/agents/${id}/tasks`, () => ({ body: { tasks } }));
  }
  for (const story of stories) {
    routes.set(`GET /api/agents/refunds/tasks/${story.id}`, () => ({ body: story }));
    // Who joins it waits with it.
    const joined = `GET /api/agents/refunds/tasks/${story.id}/events`;
    routes.set(joined, () => new Promise(() => undefined));
  }
}

function rowOf({
  task: _,
  statechart: __,
  decisions: ___,
  deferral: ____,
  timeline: _____,
  ...row
}: TaskDetailJson): TaskRowJson {
  return row;
}
