import { describe, expect, it } from 'vitest';
import {
  answerWords,
  refusalWords,
} from '../../../../src/actors/channels/slack/messages/answer-words.ts';
import { approveModal } from '../../../../src/actors/channels/slack/messages/approve-modal.ts';
import {
  messageOf,
  supersededMessage,
} from '../../../../src/actors/channels/slack/messages/message.ts';
import { rejectModal } from '../../../../src/actors/channels/slack/messages/reject-modal.ts';
import type { ApprovalNotice } from '../../../../src/machines/channels/approval-notice.ts';
import { tooLate } from '../../../../src/machines/channels/outcome-words.ts';
import type { DecisionAnswer } from '../../../../src/machines/governance/decision.ts';
import { messageInWords, modalInWords } from '../../../helpers/slack-in-words.ts';
import { aNotice, aRequest, asked, endings, trickyContext } from './slack-notices.ts';

const look = { dashboardUrl: 'http://localhost:4200' };
const named = ['ann@example.com', 'bob@example.com'];
const byAnn = [{ approver: 'ann@example.com', at: asked + 30_000 }];
const letters = 'abcdefghij'.repeat(300);

/** Every message, under what it shows. */
const messages: Record<string, ApprovalNotice> = {
  'Asked, and anyone in the channel may decide': aNotice(),
  'Asked, and only some may decide': aNotice({ approvers: named }),
  'Asked, and two must approve': aNotice({ quorum: 2 }),
  'One of two has approved': aNotice({ quorum: 2, approvals: byAnn }),
  'Four eyes': aNotice({ approvers: named, fourEyes: true }),
  'Nobody knows who asked': aNotice({ requester: null }),
  'Reminded at half of the time': aNotice({ stage: 'reminded' }),
  'Escalated to a second channel': aNotice({
    stage: 'escalated',
    target: 'channel:slack:#managers',
    requestedAt: asked + 225_000,
  }),
  Approved: aNotice({}, endings.approved),
  'Approved, and the call ran': aNotice({}, { ...endings.approved, outcome: { kind: 'ran' } }),
  'Approved, and the call failed': aNotice(
    {},
    { ...endings.approved, outcome: { kind: 'failed', error: 'the bank is *closed*' } },
  ),
  'Approved, and the call never ran': aNotice(
    {},
    { ...endings.approved, outcome: { kind: 'neverRan' } },
  ),
  'Every decision needs a reason': aNotice({ requireReason: 'both' }),
  'Approved with a note': aNotice({}, endings.approvedWithNote),
  'Approved by two': aNotice(
    { quorum: 2, approvals: byAnn },
    { ...endings.approved, approver: 'bob@example.com' },
  ),
  'Rejected without a reason': aNotice({}, endings.rejected),
  'Rejected with a reason': aNotice({}, endings.rejectedWithReason),
  'Timed out': aNotice({}, endings.timedOut),
  'Canceled with a reason': aNotice({}, endings.canceled),
  'Abandoned by a restart': aNotice({}, endings.restarted),
  'Abandoned, because the caller left': aNotice({}, endings.left),
  'Each argument on a line, and what was written since': aNotice({
    args: { to: 'rita@example.com', amount: 40, order: 'A-1042' },
    messages: [
      { from: 'rita@example.com', text: 'Stop, that is the wrong address' },
      { from: 'bob@example.com', text: 'I agree' },
    ],
  }),
  'A long argument': aNotice({ args: { note: letters + letters, amount: 40 } }),
  'A context of 3000 characters': aNotice({ context: letters }),
  'A context of more than 3000 characters': aNotice({ context: `${letters}k` }),
  'A context with markup': aNotice({ context: trickyContext }),
};

const ann = { name: 'ann@example.com', email: 'ann@example.com' };
const guest = { name: 'A Guest (U0GUEST001)', email: null };
const settled = {
  id: aRequest().deferralId,
  tool: 'issue_refund',
  argsSha256: aRequest().argsSha256,
  decision: 'approve',
  approver: 'bob@example.com',
  note: '',
  decidedAt: asked + 60_000,
} as const;

function answered(
  answer: DecisionAnswer,
  notice = aNotice(),
  approver: typeof ann | typeof guest = ann,
) {
  return answerWords(answer, { notice, approver, approvals: 1 }) ?? 'nothing; the message shows it';
}

const forbidden: DecisionAnswer = { kind: 'forbidden' };

/** Every text to the person who clicked, under its occasion. */
const said: Record<string, string> = {
  'The decision counted': answered({
    kind: 'resolved',
    deferralId: '',
    decision: 'approve',
    approver: '',
  }),
  'The approval counted, and more are needed': answered(
    { kind: 'recorded', deferralId: '', decision: 'approve', approver: 'ann@example.com' },
    aNotice({ quorum: 2 }),
  ),
  'Not a listed approver': answered(forbidden, aNotice({ approvers: named })),
  'No email, and only listed approvers may decide': answered(
    forbidden,
    aNotice({ approvers: named }),
    guest,
  ),
  'No email, and two must approve': answered(forbidden, aNotice({ quorum: 2 }), guest),
  'The requester, under four eyes': answered(forbidden, aNotice({ fourEyes: true })),
  'The list is empty': answered(forbidden, aNotice({ approvers: [] })),
  'Another approver decided first': answered({ kind: 'decided', settled }),
  'Another deferral was decided': answered({
    kind: 'decided',
    settled: { ...settled, id: 'other' },
  }),
  'The task waits for another call': answered({ kind: 'otherDeferral', pendingId: 'other' }),
  'The call has other arguments': answered({ kind: 'otherArguments', pendingSha256: 'b2' }),
  'The task does not wait': answered({ kind: 'notPending' }),
  'Clicked after an approval': tooLate(aNotice({}, endings.approved)),
  'Clicked after a rejection': tooLate(aNotice({}, endings.rejectedWithReason)),
  'Clicked after the deadline': tooLate(aNotice({}, endings.timedOut)),
  'Clicked after a cancel': tooLate(aNotice({}, endings.canceled)),
  'Clicked after a restart': tooLate(aNotice({}, endings.restarted)),
  'Clicked after the caller disconnected': tooLate(aNotice({}, endings.left)),
  'The approval is not stored': refusalWords.unknown,
  'Another message than the one that was posted': refusalWords.misplaced,
  'The decision could not be recorded': refusalWords.unrecorded,
  'The look-up of the person failed temporarily': refusalWords.unchecked,
  'The app lacks a scope to look people up': refusalWords.uncheckable,
  'The whole call could not be shown': refusalWords.unshown,
  'The form did not open': refusalWords.noModal,
  'The reason is too long': refusalWords.tooLong,
};

const newer = 'https://acme.slack.com/archives/C0REFUNDS1/p1782896400000200';

function page(): string {
  const inWords = (notice: ApprovalNotice): string => messageInWords(messageOf(notice, look));
  const first = inWords(aNotice());
  const approved = inWords(aNotice({}, endings.approved));
  const shown = Object.entries(messages).map(([title, notice], index) => {
    const text = inWords(notice);
    const isBase = index === 0 || text === approved;
    const rest = isBase && index > 0 ? withoutRepeats(text, first, '') : text;
    return `### ${title}\n\n${boxed(isBase ? rest : withoutRepeats(withoutRepeats(text, first, ''), approved, 'A'))}`;
  });
  const place = {
    deferralId: aRequest().deferralId,
    channel: 'C0REFUNDS1',
    ts: '1782896400.000100',
  };
  const lines = Object.entries(said).map(([when, words]) => `| ${when} | ${escaped(words)} |`);
  return [
    '# What Slack shows',
    'Reference. For people who approve in [Slack](slack.md) or set it up: look up each message and form of an approval, block by block. ' +
      'A test writes this page. The dashboard is at `http://localhost:4200` here; without one, messages have no link to it. ' +
      '`…3-6` stands for the lines 3 to 6 of the first message, `…A6` for line 6 of *Approved* in full.',
    '## Messages',
    ...shown,
    `### Posted twice, and not the one that counts\n\n${boxed(messageInWords(supersededMessage(aNotice(), newer)))}`,
    '## The form that asks for a reason',
    boxed(modalInWords(rejectModal(aRequest(), place))),
    'If another approver has decided meanwhile, the form stays open and reports under the field:',
    boxed(tooLate(aNotice({}, endings.approved))),
    '## The form that shows a whole call',
    'It opens where a part of the call has no room in the message. *Next part* shows the next part of a long call.',
    boxed(modalInWords(approveModal(aRequest({ args: { amount: 40, order: 'A-1042' } }), place))),
    'A call that is too long for Slack cannot be approved there:',
    boxed(modalInWords(approveModal(aRequest({ args: { note: 'x'.repeat(250_000) } }), place))),
    '## What only the person who clicked sees',
    `| When | Words |\n|---|---|\n${lines.join('\n')}`,
    '',
  ].join('\n\n');
}

/** Replaces lines of another message, in the same order, by `…`, its name and their numbers there. */
function withoutRepeats(text: string, first: string, name: string): string {
  const known = first.split('\n');
  const lines: string[] = [];
  let run: [from: number, to: number] | null = null;
  const end = (): void => {
    if (run !== null) lines.push(`…${name}${run[0] === run[1] ? run[0] : `${run[0]}-${run[1]}`}`);
    run = null;
  };
  for (const line of text.split('\n')) {
    const number = known.indexOf(line) + 1;
    if (number === 0) {
      end();
      lines.push(line);
    } else if (run?.[1] === number - 1) run = [run[0], number];
    else {
      end();
      run = [number, number];
    }
  }
  end();
  return lines.join('\n');
}

function boxed(text: string): string {
  return `\`\`\`\`text\n${text}\n\`\`\`\``;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|');
}

describe('the page of what Slack shows', () => {
  it('matches the current code', async () => {
    await expect(page()).toMatchFileSnapshot('../../../../docs/slack-screens.md');
  });
});
