import { hrefOf } from '../../state/route.ts';

/** What the list of waiting calls shows; an empty text matches every call. */
export interface InboxFilter {
  agent: string;
  tool: string;
  requester: string;
  /** An entry of the approver lists that is no single person, such as `group:finance`. */
  group: string;
  /** True for the calls that the user may decide. */
  mine: boolean;
  /** Words that a call must have. */
  text: string;
}

/** The whole state of the list, as its address has it. */
export interface InboxView extends InboxFilter {
  order: 'deadline' | 'newest';
  /** True if calls of one tool and agent are one row. */
  isGrouped: boolean;
  /** From 1; `null` for the page of the selected call. */
  page: number | null;
}

const names = { agent: 'agent', tool: 'tool', requester: 'requester', group: 'group' } as const;

/** Reads the state of the list from an address. */
export function readInbox(query: URLSearchParams): InboxView {
  const page = query.get('page') ?? '';
  return {
    agent: query.get(names.agent) ?? '',
    tool: query.get(names.tool) ?? '',
    requester: query.get(names.requester) ?? '',
    group: query.get(names.group) ?? '',
    mine: query.get('mine') === 'true',
    text: query.get('q') ?? '',
    order: query.get('order') === 'newest' ? 'newest' : 'deadline',
    isGrouped: query.get('groups') === 'true',
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : null,
  };
}

/** Returns the address of the list, or of one call in it. */
export function hrefOfInbox(
  { mine, text, order, isGrouped, page, ...facets }: InboxView,
  call: { agent_id: string; task_id: string } | null = null,
): string {
  const query = new URLSearchParams(
    Object.entries(facets).filter(([name, value]) => name in names && value !== ''),
  );
  if (mine) query.set('mine', 'true');
  if (text !== '') query.set('q', text);
  if (order !== 'deadline') query.set('order', order);
  if (isGrouped) query.set('groups', 'true');
  if (page !== null) query.set('page', String(page));
  const path = call === null ? '#/approvals' : hrefOf('approvals', call.agent_id, call.task_id);
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Returns true if a filter excludes calls. */
export function isNarrowed({ agent, tool, requester, group, mine, text }: InboxFilter): boolean {
  return mine || [agent, tool, requester, group, text].some((value) => value.trim() !== '');
}
