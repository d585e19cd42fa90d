import type { ModalView } from '@slack/types';
import { z } from 'zod';
import {
  type ApprovalRequest,
  requesterWords,
} from '../../../../machines/channels/approval-notice.ts';
import { oneLine } from '../../../../machines/legible.ts';
import { plainText, section } from './blocks.ts';
import { cut } from './escape.ts';

/** Names our modal among those of other apps. */
export const rejectCallback = 'holdpoint_reject_reason';

/** Names the field of the reason, and the block that it is in. */
export const reasonField = 'reason';

/** Most code points of a reason, as of any note of a decision. */
export const longestReason = 2_000;

/** The message that a decision is made on, and the deferral that it is about. */
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

/** Makes the modal that asks why a call is rejected (docs/contract/chat.md); opening it decides nothing. */
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
        `Asked by: ${cut(oneLine(requesterWords(request)), 300)}`,
      ),
      {
        type: 'input',
        block_id: reasonField,
        optional: true,
        label: plainText('Reason'),
        hint: plainText('Whoever asked reads it, and the audit log keeps it.'),
        element: {
          type: 'plain_text_input',
          action_id: reasonField,
          multiline: true,
          max_length: longestReason,
        },
      },
    ],
  };
}

/** Reads the message that a modal was opened from, and the part of the call that it shows; `null` for a foreign modal. */
export function readPlace(metadata: string): z.infer<typeof placeShape> | null {
  try {
    const result = placeShape.safeParse(JSON.parse(metadata));
    return result.success ? result.data : null;
  } catch {
    return null;
  }
}

/** Answers a submission in the modal itself, which stays open (200 characters at most). */
export function refusalInModal(words: string): object {
  return { response_action: 'errors', errors: { [reasonField]: cut(words, 200) } };
}
