import { type ApprovalNotice, splitTarget } from '../../../machines/channels/approval-notice.ts';
import { namesOnePerson } from '../../../machines/governance/email.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ScopedOutbound } from '../../ports/egress.ts';
import { type ApproverPeople, type ChannelAdapter, DeliveryError } from '../channel-adapter.ts';
import type { TeamsSettings } from '../channel-settings.ts';
import { type NoticeKind, noticeKindOf } from '../notice-kind.ts';
import { postOnce } from '../post-once.ts';
import { steadyAdapter } from '../steady-adapter.ts';
import { pause } from '../time-limit.ts';
import { teamsMessage } from './teams-card.ts';

export interface TeamsOptions {
  settings: TeamsSettings;
  addressesOf: ApproverPeople['addressesOf'];
  /** Returns the address of the page on which people decide on a deferral. */
  pageOf: (deferralId: string) => string;
  outbound: ScopedOutbound;
  clock: Clock;
}

/** Minimum milliseconds between two posts to one URL: Teams accepts four a second. */
const gap = 260;

/** Maximum people that one card mentions. */
const mostMentioned = 20;

/**
 * Creates the adapter for `channel:teams:<name>`, which posts adaptive cards to a webhook of Teams. A card links to the
 * page on which people sign in and decide; nothing in it decides (docs/contract/chat.md).
 */
export function createTeamsAdapter(options: TeamsOptions): ChannelAdapter {
  const { settings, addressesOf, pageOf, outbound, clock } = options;
  /** Earliest time of the next post by URL, in epoch milliseconds. */
  const nextAt = new Map<string, number>();

  async function turnAt(url: string): Promise<void> {
    const now = clock.now();
    const at = Math.max(now, nextAt.get(url) ?? now);
    nextAt.set(url, at + gap);
    if (at > now) await pause(clock, at - now);
  }

  async function post(
    kind: NoticeKind,
    notice: ApprovalNotice,
    signal: AbortSignal,
  ): Promise<void> {
    const { request } = notice;
    const { name, url } = targetOf(settings, notice);
    const isMentioning = request.mention === true && request.approvers !== null;
    const emails = isMentioning ? addressesOf(request.approvers ?? []).emails : [];
    const message = teamsMessage(kind, notice, {
      page: pageOf(request.deferralId),
      mentioned: emails.filter(isMentionable).slice(0, mostMentioned),
    });
    const card = {
      receiver: `the webhook of Teams ${JSON.stringify(name)}`,
      remedy: 'check the workflow and the URL in its variable',
      url,
      headers: { 'content-type': 'application/json', 'user-agent': 'holdpoint' },
      body: JSON.stringify(message),
    };
    await turnAt(url);
    signal.throwIfAborted();
    const scope = { taskId: request.taskId, correlationId: null, tags: {}, isOwn: true };
    await outbound.within(scope, () => postOnce(card, { outbound, clock, signal }));
  }

  return steadyAdapter({
    name: 'teams',
    async deliver(notice, signal) {
      await post('asked', notice, signal);
      return {};
    },
    async update(_ref, notice, news, signal) {
      const kind = noticeKindOf(news);
      if (kind !== null) await post(kind, notice, signal);
    },
  });
}

/** An address with other characters could end the mention. */
function isMentionable(email: string): boolean {
  return namesOnePerson(email) && !/[<>&"[\]()`]/.test(email);
}

function targetOf({ targets }: TeamsSettings, { request }: ApprovalNotice) {
  const { target: name } = splitTarget(request.target);
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target !== undefined) return { name, url: target.url };
  throw new DeliveryError(
    `no webhook of Teams is called ${JSON.stringify(name)}; name it under targets of the channel teams`,
    { fault: 'target' },
  );
}
