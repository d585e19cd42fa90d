import type { ChatPostMessageArguments, WebClient } from '@slack/web-api';
import {
  type ApprovalNews,
  type ApprovalNotice,
  type MessageRef,
  splitTarget,
} from '../../../../machines/channels/approval-notice.ts';
import { DeliveryError } from '../../channel-adapter.ts';
import type { ChannelDirectory } from '../link/channel-directory.ts';
import type { RateLimiter } from '../link/rate-limiter.ts';
import { deliveryError } from '../link/slack-failure.ts';
import { localTime } from '../messages/blocks.ts';
import type { Mentions } from '../messages/mentions.ts';
import { type MessageLook, messageOf } from '../messages/message.ts';

export interface SlackDeliveriesOptions {
  web: Pick<WebClient, 'chat'>;
  /** A client without retries: a message whose response was lost must not be posted again. */
  once: Pick<WebClient, 'chat'>;
  channels: Pick<ChannelDirectory, 'resolve'>;
  limiter: RateLimiter;
  look: MessageLook;
  /** Mentions of the approvers; messages mention no one when absent. */
  mentions?: Pick<Mentions, 'of'>;
}

/** Posts and updates approval messages; every method rejects with DeliveryError. */
export class SlackDeliveries {
  readonly #options: SlackDeliveriesOptions;

  constructor(options: SlackDeliveriesOptions) {
    this.#options = options;
  }

  /** Posts a notice to the channel of its target; the ref holds the channel and the message's `ts`. */
  async post(notice: ApprovalNotice, signal: AbortSignal): Promise<MessageRef> {
    const { channels, limiter, look, mentions } = this.#options;
    const { deferralId, target } = notice.request;
    const channel = await channels.resolve(splitTarget(target).target);
    const mention = (await mentions?.of(notice.request)) ?? null;
    await limiter.turn(channel);
    // The caller has given up and posts the notice again later.
    signal.throwIfAborted();
    const posted = await this.#postNow({
      channel,
      ...messageOf(notice, { ...look, mention }),
      unfurl_links: false,
      unfurl_media: false,
      metadata: { event_type: 'holdpoint_approval', event_payload: { deferral_id: deferralId } },
    });
    if (posted.ts === undefined) throw unreadable(`posting to ${channel}`);
    return { channel: posted.channel ?? channel, ts: posted.ts };
  }

  /** Updates a message to the current notice; a reminder is also posted to its thread, so users notice it. */
  async update(ref: MessageRef, notice: ApprovalNotice, news: ApprovalNews): Promise<void> {
    const { web, look } = this.#options;
    const { channel, ts } = ref;
    if (typeof channel !== 'string' || typeof ts !== 'string') {
      throw new DeliveryError('slack: the channel of the message is unknown', {
        fault: 'gone',
      });
    }
    await attempt(`changing a message in ${channel}`, () =>
      web.chat.update({ channel, ts, ...messageOf(notice, look) }),
    );
    if (news !== 'reminded') return;
    await this.#postNow({
      channel,
      thread_ts: ts,
      reply_broadcast: true,
      unfurl_links: false,
      unfurl_media: false,
      text: `Half of the time is over, and a decision is still missing. Without one the call is denied ${localTime(notice.request.expiresAt)}.`,
    });
  }

  async #postNow(message: ChatPostMessageArguments & { channel: string }) {
    const { once, limiter } = this.#options;
    const { channel } = message;
    try {
      const posted = await attempt(`posting to ${channel}`, () => once.chat.postMessage(message));
      limiter.taken(channel);
      return posted;
    } catch (error) {
      if (error instanceof DeliveryError && error.retryAfter !== null) limiter.slow(channel);
      throw error;
    }
  }
}

async function attempt<Answer>(doing: string, call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    throw deliveryError(error, doing);
  }
}

function unreadable(doing: string): DeliveryError {
  return new DeliveryError(`slack: ${doing} failed: the response is not from Slack`, {
    fault: 'later',
  });
}
