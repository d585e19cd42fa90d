/** The pages of one agent. */
export const agentPages = ['chat', 'config', 'policy', 'mcp', 'doctor', 'logs'] as const;
export type AgentPage = (typeof agentPages)[number];

/** The route in the page's URL. */
export type Route =
  | { view: 'overview'; query: URLSearchParams }
  | { view: 'agents' }
  | { [Page in AgentPage]: { view: Page; agent: string } }[AgentPage]
  | { view: 'approvals'; selected: { agent: string; task: string } | null; query: URLSearchParams }
  | { view: 'tasks'; query: URLSearchParams }
  | { view: 'workflows'; query: URLSearchParams }
  | { view: 'health' }
  | { view: 'receipts' }
  | { view: 'a2a'; query: URLSearchParams }
  | { view: 'task'; agent: string; task: string; query: URLSearchParams }
  | { view: 'audit'; agent: string | null; query: URLSearchParams }
  | { view: 'skills'; selected: string | null; query: URLSearchParams }
  | { view: 'skill-builder'; agent: string }
  /** A step of the wizard; `null` for the current one. */
  | { view: 'new'; step: string | null }
  | { view: 'unknown' };

/** Parses a route from a URL fragment; an empty fragment means the overview. */
export function readRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  const parts = decoded(path);
  const query = new URLSearchParams(search);
  if (parts === null) return { view: 'unknown' };
  const [view, agent, task, rest] = parts;
  if (rest !== undefined) return { view: 'unknown' };
  switch (view) {
    case undefined:
      return { view: 'overview', query };
    case 'overview':
    case 'workflows':
      return agent === undefined ? { view, query } : { view: 'unknown' };
    case 'agents':
      if (agent === undefined) return { view: 'agents' };
      return isAgentPage(task) ? { view: task, agent } : { view: 'unknown' };
    case 'approvals':
      if (agent === undefined) return { view, selected: null, query };
      if (task === undefined) return { view: 'unknown' };
      return { view, selected: { agent, task }, query };
    case 'tasks':
      if (agent === undefined) return { view: 'tasks', query };
      return task === undefined ? { view: 'unknown' } : { view: 'task', agent, task, query };
    case 'skill-builder':
      return agent === undefined || task !== undefined ? { view: 'unknown' } : { view, agent };
    case 'a2a':
      return agent === undefined ? { view, query } : { view: 'unknown' };
    case 'health':
    case 'receipts':
      return agent === undefined ? { view } : { view: 'unknown' };
    case 'audit':
      return task === undefined ? { view, agent: agent ?? null, query } : { view: 'unknown' };
    case 'new':
      return task === undefined ? { view, step: agent ?? null } : { view: 'unknown' };
    case 'skills':
      return task === undefined ? { view, selected: agent ?? null, query } : { view: 'unknown' };
    default:
      return { view: 'unknown' };
  }
}

/** Builds a route's URL, such as `#/tasks/refunds/t-1`, encoding any characters. */
export function hrefOf(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

function decoded(path: string): string[] | null {
  try {
    return path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** Returns true if a word names a page of one agent. */
export function isAgentPage(text: string | undefined): text is AgentPage {
  return agentPages.some((page) => page === text);
}
