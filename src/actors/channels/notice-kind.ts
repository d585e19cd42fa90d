import type { ApprovalNews } from '../../machines/channels/approval-notice.ts';

/** The kinds of messages about a call to a service that cannot update a message. */
export type NoticeKind = 'asked' | 'reminded' | 'ended' | 'finished';

/** Headings of the messages. */
export const noticeHeadings = {
  asked: 'Approval needed',
  reminded: 'Reminder: approval needed',
  ended: 'Approval ended',
  finished: 'Outcome of the call',
} as const satisfies Record<NoticeKind, string>;

/** Returns the kind of the further message about news of a call; `null` for news without one. */
export function noticeKindOf(news: ApprovalNews): NoticeKind | null {
  return news === 'reminded' || news === 'ended' || news === 'finished' ? news : null;
}
