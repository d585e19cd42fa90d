import type { ActionsBlock, Button, KnownBlock } from '@slack/types';
import {
  type ApprovalNotice,
  type ApprovalRequest,
  approvedChangeWords,
  callOutcomeWords,
  requesterWords,
} from '../../../../machines/channels/approval-notice.ts';
import { endingOf, headingOf, reasonOf } from '../../../../machines/channels/outcome-words.ts';
import { approversOf, whoMayDecide } from '../../../../machines/channels/who-may-decide.ts';
import { formatDuration } from '../../../../machines/duration.ts';
import { legible, oneLine } from '../../../../machines/legible.ts';
import { header, localTime, markup, plainText, quotation, section, smallPrint } from './blocks.ts';
import { callBlocks, writtenBlocks } from './call-blocks.ts';
import { cut, escapeMarkup } from './escape.ts';

/** Action ids of the buttons that decide; any other button belongs to another app or only opens a link. */
export const approveAction = 'holdpoint_approve';
export const rejectAction = 'holdpoint_reject';

/** Display settings of a message. */
export interface MessageLook {
  /** The dashboard URL, without a trailing slash; `null` for no link. */
  dashboardUrl: string | null;
  /** Slack's markup that mentions the approvers; absent for none. Only a new message notifies them. */
  mention?: string | null;
}

/** A message in Slack's API format. */
export interface SlackMessage {
  /** One line for notifications and screen readers. */
  text: string;
  blocks: KnownBlock[];
}

/** Maximum characters of a call's outcome. */
const longestOutcome = 400;

/** Maximum characters of a name on its own line. */
const longestName = 300;

/**
 * Renders a notice: with buttons while it is pending, with its outcome afterwards. Untrusted text is never rendered as
 * markup (docs/contract/chat.md).
 */
export function messageOf(notice: ApprovalNotice, look: MessageLook): SlackMessage {
  const { request, outcome } = notice;
  const blocks: KnownBlock[] = [
    header(`${headingOf(notice)}: ${oneLine(request.tool)}`),
    section(`Tool: ${nameOf(request.tool)}`, `Requested by: ${nameOf(requesterWords(request))}`),
    ...callBlocks(request, outcome === null).blocks,
    ...(outcome === null ? writtenBlocks(request) : []),
  ];
  if (outcome === null) blocks.push(...waiting(request, look));
  else blocks.push(...ended(notice, look));
  return { text: fallbackOf(notice), blocks };
}

/** Renders a duplicate message: it accepts no decision, and `link` leads to the current message. */
export function supersededMessage({ request }: ApprovalNotice, link: string | null): SlackMessage {
  const where = link === null ? 'the newer message' : `<${escapeMarkup(link)}|the newer message>`;
  return {
    text: escapeMarkup(`${cut(oneLine(request.tool), 100)}: decide on the newer message`),
    blocks: [
      header(`Posted twice: ${oneLine(request.tool)}`),
      smallPrint(`This message does not count. Decide on ${where}.`),
    ],
  };
}

/** Returns the dashboard URL of a task; `null` without a dashboard. */
export function pageOf(taskId: string, { dashboardUrl }: MessageLook): string | null {
  if (dashboardUrl === null) return null;
  return `${dashboardUrl.replace(/\/+$/, '')}/#/approvals/${encodeURIComponent(taskId)}`;
}

function waiting(request: ApprovalRequest, look: MessageLook): KnownBlock[] {
  const after = `after ${formatDuration(request.timeout)} without a decision`;
  const asked = stageWords[request.stage];
  return [
    section(...whoMayDecide(request)),
    ...(look.mention ? [markup(look.mention)] : []),
    smallPrint(
      ...(asked === null ? [] : [asked]),
      `Auto-deny ${localTime(request.expiresAt)}, ${after}.`,
    ),
    buttons(request, look),
  ];
}

const stageWords: Record<ApprovalRequest['stage'], string | null> = {
  asked: null,
  reminded: 'Reminder: half of the time is over.',
  escalated: 'Escalated: no decision in time, so more approvers are notified.',
};

function buttons(request: ApprovalRequest, look: MessageLook): ActionsBlock {
  const { taskId, deferralId } = request;
  const button = (action_id: string, text: string, rest: Partial<Button>): Button => ({
    type: 'button',
    action_id,
    text: plainText(text, 75),
    ...rest,
  });
  const page = pageOf(taskId, look);
  return {
    type: 'actions',
    block_id: `holdpoint:${taskId}`.slice(0, 255),
    elements: [
      button(approveAction, 'Approve', {
        style: 'primary',
        value: deferralId,
      }),
      button(rejectAction, 'Reject', { style: 'danger', value: deferralId }),
      ...(page === null ? [] : [button('holdpoint_open', 'Open in the dashboard', { url: page })]),
    ],
  };
}

function ended(notice: ApprovalNotice, look: MessageLook): KnownBlock[] {
  const { request, outcome } = notice;
  const lines = [cut(endingOf(notice), longestName)];
  const outcomeWords = callOutcomeWords(notice);
  const changed = outcome === null ? null : approvedChangeWords(outcome);
  if (changed !== null) lines.push(cut(changed, longestOutcome));
  if (outcomeWords !== null) lines.push(`Outcome: ${cut(outcomeWords, longestOutcome)}`);
  if (request.quorum > 1 && request.approvals.length > 0) {
    lines.push(`Approved before by: ${approversOf(request)}`);
  }
  const reason = reasonOf(notice);
  if (reason !== null) lines.push(`${reason.label}:`);
  const page = pageOf(request.taskId, look);
  const link = page === null ? [] : [`<${escapeMarkup(page)}|Open in the dashboard>`];
  return [
    section(...lines),
    ...(reason === null ? [] : [quotation(legible(reason.text))]),
    smallPrint(localTime(outcome?.at ?? request.expiresAt), ...link),
  ];
}

function fallbackOf(notice: ApprovalNotice): string {
  const { request, outcome } = notice;
  const tool = cut(oneLine(request.tool), 100);
  if (outcome !== null) return escapeMarkup(`${tool}: ${cut(endingOf(notice), longestName)}`);
  const asked = cut(oneLine(requesterWords(request)), 100);
  return escapeMarkup(`${headingOf(notice)}: ${tool}, requested by ${asked}`);
}

function nameOf(name: string | null): string {
  return cut(oneLine(name), longestName);
}
