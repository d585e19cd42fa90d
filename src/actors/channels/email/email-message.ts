import { hash } from 'node:crypto';
import {
  type ApprovalNotice,
  callOutcomeWords,
  factWords,
  requesterWords,
} from '../../../machines/channels/approval-notice.ts';
import { argumentLines, isDefaultContext } from '../../../machines/channels/argument-lines.ts';
import { endingOf, reasonOf } from '../../../machines/channels/outcome-words.ts';
import { whoMayDecide } from '../../../machines/channels/who-may-decide.ts';
import { legible, oneLine } from '../../../machines/legible.ts';
import { type NoticeKind, noticeHeadings } from '../notice-kind.ts';

/** A mail about a held call. */
export interface EmailMessage {
  subject: string;
  text: string;
  html: string;
  /** Identifies the mail; the first one of a thread is the same after a repeated delivery. */
  messageId: string;
  /** The first mail of the thread; absent for that mail. */
  references?: string;
}

/** Maximum characters of the arguments of a call, and of the name of a tool. */
const longest = { details: 10_000, name: 100 };

/**
 * Renders a mail about a held call, as text and as HTML without remote content. Nothing in it decides.
 *
 * @param page address of the page on which people decide
 * @param domain domain of the sender, for the ids of mails
 */
export function emailMessage(
  kind: NoticeKind,
  notice: ApprovalNotice,
  { page, domain }: { page: string; domain: string },
): EmailMessage {
  const { request } = notice;
  const tool = oneLine(request.tool).slice(0, longest.name).toWellFormed();
  const lines = linesOf(notice);
  const first = idOf('asked', notice, domain);
  const escaped = lines.map((line) => escapeHtml(line)).join('\n');
  return {
    // Every mail of the thread has the same subject after `Re:`, by which programs keep it together.
    subject: `${kind === 'asked' ? '' : 'Re: '}Approval of ${tool} (${request.deferralId.slice(-8)})`,
    text: [
      `${noticeHeadings[kind]}: ${tool}`,
      '',
      ...lines,
      '',
      `${notice.outcome === null ? 'Decide on the page' : 'On the page'}: ${page}`,
    ].join('\n'),
    html: `<!doctype html><html><body><h2>${escapeHtml(`${noticeHeadings[kind]}: ${tool}`)}</h2><pre style="white-space:pre-wrap">${escaped}</pre><p><a href="${escapeHtml(page)}">Open the page</a></p></body></html>`,
    messageId: kind === 'asked' ? first : idOf(kind, notice, domain),
    ...(kind === 'asked' ? {} : { references: first }),
  };
}

function linesOf(notice: ApprovalNotice): string[] {
  const { request, outcome } = notice;
  const { args = {}, context, expiresAt } = request;
  const { lines, isCut } = argumentLines(args, (some) => some.join('\n').length <= longest.details);
  const result = callOutcomeWords(notice);
  const reason = reasonOf(notice);
  return [
    `Requested by: ${oneLine(requesterWords(request) ?? 'unknown')}`,
    ...(isDefaultContext(request) ? [] : ['', ...legible(context).split('\n')]),
    '',
    ...lines.map(legible),
    ...(isCut ? ['A part of the call is not shown here; the page shows it.'] : []),
    ...factWords(request),
    '',
    ...(outcome === null
      ? [
          ...whoMayDecide(request, 'anyone who may read the call'),
          `Denied at ${new Date(expiresAt).toISOString()} without a decision.`,
        ]
      : [
          endingOf(notice),
          ...(reason === null ? [] : [`${reason.label}: ${oneLine(reason.text)}`]),
        ]),
    ...(result === null ? [] : [`Outcome: ${result}`]),
  ];
}

function idOf(kind: NoticeKind, { request }: ApprovalNotice, domain: string): string {
  const digest = hash('sha256', JSON.stringify([request.deferralId, request.target]), 'hex');
  return `<${digest.slice(0, 40)}.${kind}@${domain}>`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
