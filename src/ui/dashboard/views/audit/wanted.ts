import { hrefOf } from '../../state/route.ts';

/** What is looked for in a log; empty takes all. */
export interface Wanted {
  /** Part of the name of an event. */
  event: string;
  /** Part of the id of a task. */
  task: string;
  /** What was decided, such as `deny`. */
  decision: string;
}

/** Words of the log for what was decided. */
export const decisions = ['approve', 'reject', 'deny', 'block', 'redact', 'allow'] as const;

/** Reads what is looked for from an address. */
export function readWanted(query: URLSearchParams): Wanted {
  return {
    event: query.get('event') ?? '',
    task: query.get('task') ?? '',
    decision: query.get('decision') ?? '',
  };
}

/** Reads the line that an address leads to; `null` for none. */
export function readLine(query: URLSearchParams): number | null {
  const text = query.get('line') ?? '';
  return /^[1-9]\d{0,11}$/.test(text) ? Number(text) : null;
}

/** Says whether anything is looked for. */
export function isSearch({ event, task, decision }: Wanted): boolean {
  return event !== '' || task !== '' || decision !== '';
}

/** Writes the address of an agent's log, with a line to show or with what to look for. */
export function hrefOfLog(agent: string, to: Partial<Wanted> & { line?: number }): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(to)) if (value !== '') query.set(name, String(value));
  return query.size === 0 ? hrefOf('audit', agent) : `${hrefOf('audit', agent)}?${query}`;
}
