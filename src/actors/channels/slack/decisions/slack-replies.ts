import type { WebClient } from '@slack/web-api';
import type { ApprovalNotice, MessageRef } from '../../../../machines/channels/approval-notice.ts';
import type { ScopedOutbound } from '../../../ports/egress.ts';
import type { Log } from '../../../ports/log.ts';
import { deliveryError } from '../link/slack-failure.ts';
import { approveModal } from '../messages/approve-modal.ts';
import { section } from '../messages/blocks.ts';
import { escapeMarkup } from '../messages/escape.ts';
import { type MessageLook, messageOf, supersededMessage } from '../messages/message.ts';
import { type MessagePlace, rejectModal } from '../messages/reject-modal.ts';

export interface SlackRepliesOptions {
  web: Pick<WebClient, 'chat' | 'views'>;
  look: MessageLook;
  /** Attributes the replies to the task that they concern; unattributed when absent. */
  outbound?: Pick<ScopedOutbound, 'within'>;
  log: Log;
}

/** Sends the replies to a click. No method rejects: a lost reply changes no decision. */
export class SlackReplies {
  readonly #options: SlackRepliesOptions;

  constructor(options: SlackRepliesOptions) {
    this.#options = options;
  }

  /** Sends a user an ephemeral message. */
  async tell(
    { channel, userId }: { channel: string; userId: string },
    words: string,
    notice: ApprovalNotice | null,
  ): Promise<void> {
    const { web } = this.#options;
    const said = { text: escapeMarkup(words), blocks: [section(words)] };
    await this.#send(notice, 'replying to a click', () =>
      web.chat.postEphemeral({ channel, user: userId, ...said }),
    );
  }

  /** Opens the modal that asks for a reason, and returns whether Slack opened it. */
  askWhy(triggerId: string, place: MessagePlace, notice: ApprovalNotice): Promise<boolean> {
    const { web } = this.#options;
    const view = rejectModal(notice.request, place);
    return this.#send(notice, 'asking for a reason', () =>
      web.views.open({ trigger_id: triggerId, view }),
    );
  }

  /** Opens the modal that shows a whole call, and returns whether Slack opened it. */
  showAll(triggerId: string, place: MessagePlace, notice: ApprovalNotice): Promise<boolean> {
    const { web } = this.#options;
    const view = approveModal(notice.request, place);
    return this.#send(notice, 'showing a whole call', () =>
      web.views.open({ trigger_id: triggerId, view }),
    );
  }

  /** Updates a message that still has buttons so that it shows the outcome of the wait. */
  async fix({ channel, ts }: MessagePlace, notice: ApprovalNotice): Promise<void> {
    const { web, look } = this.#options;
    await this.#send(notice, 'taking the buttons off a message', () =>
      web.chat.update({ channel, ts, ...messageOf(notice, look) }),
    );
  }

  /**
   * Removes the buttons from an outdated message of ours, such as a duplicate post whose response was lost, and links
   * to the current message. While the current message is unknown, the outdated one is left unchanged.
   */
  async supersede(
    { channel, ts }: MessagePlace,
    notice: ApprovalNotice,
    live: MessageRef | null,
  ): Promise<void> {
    const { web } = this.#options;
    if (typeof live?.['channel'] !== 'string' || typeof live['ts'] !== 'string') return;
    const place = { channel: live['channel'], message_ts: live['ts'] };
    let link: string | undefined;
    await this.#send(notice, 'finding the link of a message', async () => {
      link = (await web.chat.getPermalink(place)).permalink;
    });
    await this.#send(notice, 'taking the buttons off a message that does not count', () =>
      web.chat.update({ channel, ts, ...supersededMessage(notice, link ?? null) }),
    );
  }

  async #send(
    notice: ApprovalNotice | null,
    doing: string,
    send: () => Promise<unknown>,
  ): Promise<boolean> {
    const { outbound, log } = this.#options;
    const taskId = notice?.request.taskId ?? null;
    const scope = { taskId, correlationId: null, tags: {}, isOwn: true };
    try {
      await (outbound === undefined || taskId === null ? send() : outbound.within(scope, send));
      return true;
    } catch (error) {
      log.warn({ task_id: taskId }, deliveryError(error, doing).message);
      return false;
    }
  }
}
