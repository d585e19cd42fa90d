import { hrefOf } from '../../state/route.ts';

/** The search terms of a log; empty ones match everything. */
export interface Wanted {
  /** Part of an event name. */
  event: string;
  /** Part of a task ID. */
  task: string;
  /** A decision such as `deny`. */
  decision: string;
  /** Ends of a range of time: RFC 3339, or a duration before now such as `7d`. */
  from: string;
  to: string;
}

/** The position of a page over the logs of several agents. */
export interface MergedPlace {
  /** The line of each agent before which the page ends. */
  before: ReadonlyMap<string, number>;
  /** The time at which the page ends for an agent without such a line; empty for the present. */
  until: string;
}

/** The decision values in the log. */
export const decisions = ['approve', 'reject', 'deny', 'block', 'redact', 'allow'] as const;

/** Reads the search terms from a URL. */
export function readWanted(query: URLSearchParams): Wanted {
  return {
    event: query.get('event') ?? '',
    task: query.get('task') ?? '',
    decision: query.get('decision') ?? '',
    from: query.get('from') ?? '',
    to: query.get('to') ?? '',
  };
}

/** Reads a line named in a URL: a marked `line`, or the line after the last one shown; `null` for none. */
export function readLine(query: URLSearchParams, name: 'line' | 'before' = 'line'): number | null {
  const text = query.get(name) ?? '';
  return /^[1-9]\d{0,11}$/.test(text) ? Number(text) : null;
}

/** Returns true if a search term is set. */
export function isSearch(wanted: Wanted): boolean {
  return Object.values(wanted).some((term) => term !== '');
}

/** Returns the URL of an agent's log, with a line or search terms, and the line after the last one shown. */
export function hrefOfLog(
  agent: string,
  to: Partial<Wanted> & { line?: number; before?: number },
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(to)) if (value !== '') query.set(name, String(value));
  return query.size === 0 ? hrefOf('audit', agent) : `${hrefOf('audit', agent)}?${query}`;
}

/** Reads the position of a page over all agents from a URL. */
export function readPlace(query: URLSearchParams): MergedPlace {
  const before = (query.get('before') ?? '').split(',').flatMap((part) => {
    const [, agent = '', line = ''] = /^([a-z0-9-]+):([1-9]\d{0,11})$/.exec(part) ?? [];
    return agent === '' ? [] : [[agent, Number(line)] as const];
  });
  return { before: new Map(before), until: query.get('until') ?? '' };
}

/** Returns the URL of the log over all agents, with search terms, at a position; `null` for the end. */
export function hrefOfAll(wanted: Partial<Wanted>, place: MergedPlace | null): string {
  const query = new URLSearchParams({ agents: 'all' });
  for (const [name, value] of Object.entries(wanted)) if (value !== '') query.set(name, value);
  if (place !== null) {
    query.set('before', [...place.before].map(([agent, line]) => `${agent}:${line}`).join(','));
    query.set('until', place.until);
  }
  return `${hrefOf('audit')}?${query}`;
}
