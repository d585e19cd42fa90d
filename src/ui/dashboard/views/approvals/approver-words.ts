import type { DeferralJson } from '../../../../http/wire/dashboard/held-call-json.ts';
import { targetWords } from '../../components/target-words.ts';

const alternatives = new Intl.ListFormat('en', { type: 'disjunction' });
const together = new Intl.ListFormat('en');

/** Describes an entry of an approver list in words: `group:finance` is `the finance group`. */
export function entryWords(entry: string): string {
  const [, kind, name = ''] = /^(group|oncall|claim):(.+)$/s.exec(entry) ?? [];
  if (kind === 'group') return `the ${name} group`;
  if (kind === 'oncall') return `the person on call for ${name}`;
  return kind === 'claim' ? `people with ${name.replace('=', ' ')}` : entry;
}

/** Returns true if an entry of an approver list is no single person, such as `group:finance`. */
export function isGroup(entry: string): boolean {
  return /^(group|oncall|claim):./s.test(entry);
}

/** Describes who may decide, and how many approvals are needed. */
export function deciders({
  approvers,
  also_by: others = [],
  quorum,
  quorum_of: quorumOf,
  to,
}: DeferralJson): { who: string; how: string } {
  const asked = to.split(', ').map(targetWords).join(', ');
  const how = `${neededWords(quorum, quorumOf)}; notified: ${asked}`;
  const lists = [approvers, ...others].filter((list) => list !== null);
  if (lists.length === 0) return { who: 'Anyone notified', how };
  if (lists.some((list) => list.length === 0)) return { who: 'No approvers listed', how };
  const said = lists.map((list) => alternatives.format(list.map(entryWords)));
  const [who = '', ...also] = said;
  return { who: also.length === 0 ? who : `${who}, if also listed in: ${also.join('; ')}`, how };
}

function neededWords(quorum: number, quorumOf: Record<string, number> | undefined): string {
  const parts = Object.entries(quorumOf ?? {}).map(
    ([entry, count]) => `${count} from ${entryWords(entry)}`,
  );
  if (parts.length > 0) return `approvals needed: ${together.format(parts)}`;
  return quorum > 1 ? `${quorum} approvals needed` : '1 approval needed';
}

/** Describes an approval: `Approved by bob for ann, as the finance group`. */
export function approvalWords({
  approver,
  for: delegator,
  as: entries = [],
}: DeferralJson['approvals'][number]): string {
  const right = delegator === undefined ? '' : ` for ${delegator}`;
  const fulfilled = entries.filter(isGroup).map(entryWords);
  const counted = fulfilled.length === 0 ? '' : `, counted for ${together.format(fulfilled)}`;
  return `Approved by ${approver}${right}${counted}`;
}

/** Whether a person may decide on a call: `unknown` if only a group could list the person. */
export type Right = 'yes' | 'no' | 'unknown';

/** Returns whether a person may decide, as far as the page can see; without an email, as the dashboard's user. */
export function rightOf(
  { approvers, also_by: others = [], approvals }: DeferralJson,
  email: string,
): Right {
  const me = email.trim().toLowerCase();
  if (me !== '' && approvals.some(({ approver }) => approver.toLowerCase() === me)) return 'no';
  const rights = [approvers, ...others].map((list): Right => {
    if (list === null || (me !== '' && list.includes(me))) return 'yes';
    return me !== '' && list.some(isGroup) ? 'unknown' : 'no';
  });
  if (rights.includes('no')) return 'no';
  return rights.includes('unknown') ? 'unknown' : 'yes';
}
