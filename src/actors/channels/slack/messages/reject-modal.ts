import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import {
  type ApprovalRequest,
  requesterWords,
} from '../../../../machines/channels/approval-notice.ts';
import { needsReason } from '../../../../machines/governance/decision.ts';
import { parseJson } from '../../../../machines/json.ts';
import { oneLine } from '../../../../machines/legible.ts';
import { plainText, section } from './blocks.ts';
import { cut } from './escape.ts';

/** Callback id of the app's rejection modal. */
export const rejectCallback = 'holdpoint_reject_reason';

/** Id of the reason field and of its block. */
export const reasonField = 'reason';

/** Maximum code points of a reason, as for any decision note. */
export const longestReason = 2_000;

/** The message on which a decision is made, and its deferral. */
export interface MessagePlace {
  deferralId: string;
  channel: string;
  ts: string;
}

const placeShape = z.object({
  deferralId: z.string(),
  channel: z.string(),
  ts: z.string(),
  page: z.int().min(0).optional(),
});

/** Creates the modal that asks why a call is rejected (docs/contract/chat.md); opening it decides nothing. */
export function rejectModal(request: ApprovalRequest, place: MessagePlace): ModalView {
  const { tool } = request;
  return {
    type: 'modal',
    callback_id: rejectCallback,
    private_metadata: JSON.stringify(place),
    title: plainText('Reject this call?', 24),
    submit: plainText('Reject', 24),
    close: plainText('Keep waiting', 24),
    blocks: [
      section(
        `Tool: ${cut(oneLine(tool), 300)}`,
        `Requested by: ${cut(oneLine(requesterWords(request)), 300)}`,
      ),
      reasonInput(request, 'reject'),
    ],
  };
}

/** Creates the field for the reason of a decision; optional unless the rule demands one. */
export function reasonInput(request: ApprovalRequest, verb: 'approve' | 'reject'): InputBlock {
  return {
    type: 'input',
    block_id: reasonField,
    optional: !needsReason(request, verb),
    label: plainText('Reason'),
    hint: plainText('The requester can read it, and it is stored in the audit log.'),
    element: {
      type: 'plain_text_input',
      action_id: reasonField,
      multiline: true,
      max_length: longestReason,
    },
  };
}

/**
 * Parses a modal's metadata: the message it was opened from, and the page it shows; `null` for a modal that is not
 * ours.
 */
export function readPlace(metadata: string): z.infer<typeof placeShape> | null {
  return placeShape.safeParse(parseJson(metadata)).data ?? null;
}

/** Creates a response that shows an error in the modal, which stays open (200 characters at most). */
export function refusalInModal(words: string): object {
  return { response_action: 'errors', errors: { [reasonField]: cut(words, 200) } };
}
