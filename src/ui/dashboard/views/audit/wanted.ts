import { hrefOf } from '../../state/route.ts';

/** The search terms of a log; empty ones match everything. */
export interface Wanted {
  /** Part of an event name. */
  event: string;
  /** Part of a task ID. */
  task: string;
  /** A decision such as `deny`. */
  decision: string;
}

/** The decision values in the log. */
export const decisions = ['approve', 'reject', 'deny', 'block', 'redact', 'allow'] as const;

/** Reads the search terms from a URL. */
export function readWanted(query: URLSearchParams): Wanted {
  return {
    event: query.get('event') ?? '',
    task: query.get('task') ?? '',
    decision: query.get('decision') ?? '',
  };
}

/** Reads the line named in a URL; `null` for none. */
export function readLine(query: URLSearchParams): number | null {
  const text = query.get('line') ?? '';
  return /^[1-9]\d{0,11}$/.test(text) ? Number(text) : null;
}

/** Returns true if a search term is set. */
export function isSearch({ event, task, decision }: Wanted): boolean {
  return event !== '' || task !== '' || decision !== '';
}

/** Returns the URL of an agent's log, with a line or search terms. */
export function hrefOfLog(agent: string, to: Partial<Wanted> & { line?: number }): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(to)) if (value !== '') query.set(name, String(value));
  return query.size === 0 ? hrefOf('audit', agent) : `${hrefOf('audit', agent)}?${query}`;
}
