import type { Component } from 'svelte';
import type { Dashboard } from '../start-dashboard.ts';
import type { Route } from '../state/route.ts';

type ViewName = Exclude<Route['view'], 'unknown'>;

/** The props of a view: the dashboard, and the route without the view's name. */
type PropsOf<Name extends ViewName> = { dashboard: Dashboard } & Omit<
  Extract<Route, { view: Name }>,
  'view'
>;

interface View<Name extends ViewName> {
  title: string;
  /** True if the rail links to it. */
  inRail?: true;
  /** The view's shortcut letter after `g`. */
  key?: string;
  load: () => Promise<{ default: Component<PropsOf<Name>> }>;
}

/** Every view with a route, in rail order. Each is loaded on first use. */
export const views: { [Name in ViewName]: View<Name> } = {
  overview: {
    title: 'Overview',
    inRail: true,
    key: 'o',
    load: () => import('../views/overview/overview.svelte'),
  },
  agents: {
    title: 'Agents',
    inRail: true,
    key: 'h',
    load: () => import('../views/agents/agents.svelte'),
  },
  approvals: {
    title: 'Approvals',
    inRail: true,
    key: 'a',
    load: () => import('../views/approvals/approvals.svelte'),
  },
  tasks: {
    title: 'Tasks',
    inRail: true,
    key: 't',
    load: () => import('../views/tasks/tasks.svelte'),
  },
  workflows: {
    title: 'Workflows',
    inRail: true,
    key: 'w',
    load: () => import('../views/workflows/workflows.svelte'),
  },
  audit: {
    title: 'Audit',
    inRail: true,
    key: 'l',
    load: () => import('../views/audit/audit.svelte'),
  },
  skills: {
    title: 'Skills',
    inRail: true,
    key: 's',
    load: () => import('../views/skills/skills.svelte'),
  },
  a2a: {
    title: 'A2A',
    inRail: true,
    key: 'i',
    load: () => import('../views/a2a/a2a.svelte'),
  },
  health: {
    title: 'Health',
    inRail: true,
    key: 'd',
    load: () => import('../views/doctor/health.svelte'),
  },
  new: { title: 'New agent', load: () => import('../views/new/new.svelte') },
  task: { title: 'Task', load: () => import('../views/task/task.svelte') },
  chat: { title: 'Chat', load: () => import('../views/chat/chat.svelte') },
  config: { title: 'Configuration', load: () => import('../views/config/config.svelte') },
  policy: { title: 'Policy', load: () => import('../views/policy/policy.svelte') },
  mcp: { title: 'MCP servers', load: () => import('../views/mcp/mcp.svelte') },
  'skill-builder': {
    title: 'Skill builder',
    load: () => import('../views/skill-builder/skill-builder.svelte'),
  },
  receipts: { title: 'Receipts', load: () => import('../views/receipts/receipts.svelte') },
  doctor: { title: 'Doctor', load: () => import('../views/doctor/doctor.svelte') },
  logs: { title: 'Log', load: () => import('../views/logs/logs.svelte') },
};

/** Returns the window title of a route. */
export function titleOf(route: Route): string {
  if (route.view === 'unknown') return 'Nothing here';
  const { title } = views[route.view];
  if (route.view === 'task') return `${title} ${route.task}`;
  return 'agent' in route && route.agent !== null ? `${title} of ${route.agent}` : title;
}
