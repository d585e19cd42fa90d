import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import { targetWords } from '../../components/target-words.ts';
import { approvalWords, deciders } from './approver-words.ts';

/** Something that has changed in a call since a person opened it. */
export interface News {
  /** Identifies it among the news of its call. */
  key: string;
  label: string;
  /** A string of a person or a model; empty for none. */
  text: string;
  /** The person or the time of it, for display; empty for none. */
  from: string;
  /** RFC 3339; `null` if unknown. */
  at: string | null;
}

/** Members with news of their own, and those that change without the call. */
const told: ReadonlySet<string> = new Set([
  ...['messages', 'approvals', 'escalated_to', 'escalates_at', 'approvers', 'also_by'],
  ...['quorum', 'quorum_of', 'to', 'requests', 'expires_at', 'timeout', 'args_schema'],
  ...['title', 'may_decide', 'agent_id'],
]);

/**
 * Lists what a call has now and did not have when it was opened, in the order of a page. The approval of the person with
 * the email `me` is no news.
 */
export function newsOf(opened: DeferralJson, now: DeferralJson, me: string): News[] {
  const news: News[] = [];
  const add = (key: string, label: string, more: Partial<News> = {}): void => {
    news.push({ key, label, text: '', from: '', at: null, ...more });
  };
  for (const [index, { from, text, at = null }] of (now.messages ?? []).entries()) {
    if (index < (opened.messages?.length ?? 0)) continue;
    add(`message ${index}`, 'New message', { text, from: from ?? 'unknown', at });
  }
  for (const [index, approval] of now.approvals.entries()) {
    if (index < opened.approvals.length) continue;
    if (me !== '' && approval.approver.toLowerCase() === me.toLowerCase()) continue;
    add(`approval ${index}`, approvalWords(approval), { at: approval.at });
  }
  if (now.escalated_to !== undefined && now.escalated_to !== opened.escalated_to) {
    add(`escalation ${now.escalated_to}`, `Escalated to ${targetWords(now.escalated_to)}`);
  }
  const [before, after] = [deciders(opened), deciders(now)];
  if (before.who !== after.who || before.how !== after.how) {
    add(`deciders ${after.who} ${after.how}`, 'The approvers changed', {
      text: `${after.who}; ${after.how}`,
    });
  }
  if (now.requests !== undefined && now.requests !== opened.requests) {
    add(`requests ${now.requests}`, `Requested ${now.requests} times; it runs once`);
  }
  if (now.expires_at !== opened.expires_at) {
    add(`deadline ${now.expires_at}`, 'The deadline changed', { at: now.expires_at });
  }
  const changed = factsOf(now);
  if (changed !== factsOf(opened)) add(`call ${changed}`, 'The call changed; read it again');
  return news;
}

/** Describes news to a person who cannot see the page: `New message from ann@example.com: Stop`. */
export function spokenNews({ label, text, from }: News): string {
  return [from === '' ? label : `${label} from ${from}`, text]
    .filter((one) => one !== '')
    .join(': ');
}

/** Describes news by their keys: `2 new messages`; empty for none. */
export function unreadWords(keys: readonly string[]): string {
  if (keys.length === 0) return '';
  const isSaid = keys.every((key) => key.startsWith('message '));
  const what = isSaid ? 'new message' : 'change';
  return `${keys.length.toLocaleString('en')} ${what}${keys.length === 1 ? '' : 's'}`;
}

function factsOf(call: DeferralJson): string {
  return JSON.stringify(
    Object.entries(call)
      .filter(([name]) => !told.has(name))
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );
}
