import type { KnownBlock, ModalView } from '@slack/types';
import {
  type ApprovalRequest,
  requesterWords,
} from '../../../../machines/channels/approval-notice.ts';
import { argumentLines, isDefaultContext } from '../../../../machines/channels/argument-lines.ts';
import { needsReason } from '../../../../machines/governance/decision.ts';
import { legible, oneLine } from '../../../../machines/legible.ts';
import { shellWord } from '../../../../machines/shell-word.ts';
import { commandLine } from '../../../command-line.ts';
import { plainText, quotation, section, smallPrint } from './blocks.ts';
import { cut, escapeMarkup } from './escape.ts';
import { type MessagePlace, reasonInput } from './reject-modal.ts';

/** Callback id of the app's modal that shows a whole call. */
export const approveCallback = 'holdpoint_approve_whole';

/** Maximum characters of a box, boxes of a view, and views of one call. */
const most = { box: 2_900, boxes: 20, pages: 4 };

/**
 * Creates the modal that shows a whole call, page by page; the last page approves, with the reason if the rule demands
 * one. A call that is too long for Slack is shown as its digest with the command that prints it, and cannot be approved
 * there.
 */
export function approveModal(request: ApprovalRequest, place: MessagePlace, page = 0): ModalView {
  const boxes = boxesOf(wholeText(request));
  const pages = Math.ceil(boxes.length / most.boxes);
  if (pages > most.pages) return modal(tooLong(request), 'Close');
  const isLast = page >= pages - 1;
  const shown = boxes.slice(page * most.boxes, (page + 1) * most.boxes);
  const part = pages > 1 ? [smallPrint(`Part ${page + 1} of ${pages}.`)] : [];
  const isAsked = isLast && needsReason(request, 'approve');
  const reason = isAsked ? [reasonInput(request, 'approve')] : [];
  return {
    ...modal(
      [heading(request), ...shown.map(quotation), ...part, digestOf(request), ...reason],
      'Keep waiting',
    ),
    callback_id: approveCallback,
    private_metadata: JSON.stringify({ ...place, page }),
    submit: plainText(isLast ? 'Approve' : 'Next part', 24),
  };
}

/** Returns whether a page is the last of a call, so that the call may be approved there. */
export function isLastPage(request: ApprovalRequest, page: number): boolean {
  const pages = Math.ceil(boxesOf(wholeText(request)).length / most.boxes);
  return pages <= most.pages && page === pages - 1;
}

/** Creates the modal that explains why nothing was approved. */
export function unapprovedModal(words: string): ModalView {
  return modal([section(words)], 'Close');
}

function modal(blocks: KnownBlock[], close: string): ModalView {
  return {
    type: 'modal',
    title: plainText('Approve this call?', 24),
    close: plainText(close, 24),
    blocks,
  };
}

function heading(request: ApprovalRequest): KnownBlock {
  return section(
    `Tool: ${cut(oneLine(request.tool), 300)}`,
    `Requested by: ${cut(oneLine(requesterWords(request)), 300)}`,
  );
}

function digestOf({ argsSha256 }: ApprovalRequest): KnownBlock {
  return smallPrint(`Call: SHA-256 ${argsSha256}`);
}

function tooLong(request: ApprovalRequest): KnownBlock[] {
  const { taskId, deferralId, argsSha256 } = request;
  const note = needsReason(request, 'approve') ? ' --note WHY' : '';
  const pins = `--deferral ${deferralId} --args-sha256 ${argsSha256}${note}`;
  return [
    heading(request),
    section(
      'This call is too long for Slack, so it cannot be approved here. The first command shows all of it; the second approves it.',
    ),
    quotation(
      [
        commandLine('task deferrals'),
        commandLine(`task approve ${pins} -- ${shellWord(taskId)}`),
      ].join('\n'),
    ),
    digestOf(request),
  ];
}

function wholeText(request: ApprovalRequest): string {
  const { args, context } = request;
  if (args === undefined) return legible(context);
  const { lines } = argumentLines(args, () => true);
  return [...(isDefaultContext(request) ? [] : [legible(context), '']), ...lines].join('\n');
}

/** Splits a string between code points into boxes within the limit as Slack counts characters. */
function boxesOf(text: string): string[] {
  const boxes: string[] = [];
  let box = '';
  let length = 0;
  for (const point of text) {
    const size = escapeMarkup(point).length;
    if (length + size > most.box) {
      boxes.push(box);
      box = '';
      length = 0;
    }
    box += point;
    length += size;
  }
  return [...boxes, ...(box.trim() === '' ? [] : [box])];
}
