import { Webhook } from 'standardwebhooks';
import {
  type ApprovalNews,
  type ApprovalNotice,
  splitTarget,
} from '../../../machines/channels/approval-notice.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ScopedOutbound } from '../../ports/egress.ts';
import { type ChannelAdapter, DeliveryError } from '../channel-adapter.ts';
import type { WebhookSettings } from '../channel-settings.ts';
import { postOnce } from '../post-once.ts';
import { steadyAdapter } from '../steady-adapter.ts';
import { webhookEvent, webhookEventType, webhookId } from './webhook-event.ts';
import { webhookKeys, webhookSecretFault } from './webhook-secret.ts';

export interface WebhookOptions {
  settings: WebhookSettings;
  /** Returns the URL of the agent, which is known once it listens. */
  agentUrl: () => string;
  agentId: string;
  outbound: ScopedOutbound;
  clock: Clock;
}

/** Maximum concurrent posts to one receiver, each about a different call. */
const mostAtOnce = 4;

/**
 * Creates the adapter for `channel:webhook:<name>`. It posts the events of a held call to a URL, signed by Standard
 * Webhooks; the decision is made at the endpoint that the event names (docs/contract/chat.md).
 */
export function createWebhookAdapter(options: WebhookOptions): ChannelAdapter {
  return steadyAdapter({
    name: 'webhook',
    mostAtOnce,
    deliver: async (notice, signal) => ({ id: await postNotice(options, notice, null, signal) }),
    async update(_ref, notice, news, signal) {
      await postNotice(options, notice, news, signal);
    },
  });
}

/** Posts a notice once and returns its id. Rejects with DeliveryError. */
async function postNotice(
  { settings, agentUrl, agentId, outbound, clock }: WebhookOptions,
  notice: ApprovalNotice,
  news: ApprovalNews | null,
  signal: AbortSignal,
): Promise<string> {
  const { name, target } = targetOf(settings, notice);
  const now = clock.now();
  const type = webhookEventType(notice, news);
  const id = webhookId(type, notice);
  const { dashboardUrl } = settings;
  const event = webhookEvent(type, notice, { agentId, agentUrl: agentUrl(), dashboardUrl }, now);
  const body = JSON.stringify(event);
  const headers = headersOf(id, now, body, target.secret);
  const receiver = `the webhook ${JSON.stringify(name)}`;
  const remedy = 'check its url and secret';
  const { taskId } = notice.request;
  await outbound.within({ taskId, correlationId: null, tags: {}, isOwn: true }, () =>
    postOnce({ receiver, remedy, url: target.url, headers, body }, { outbound, clock, signal }),
  );
  return id;
}

function targetOf({ targets }: WebhookSettings, { request }: ApprovalNotice) {
  const { target: name } = splitTarget(request.target);
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target === undefined) {
    throw new DeliveryError(
      `no webhook is called ${JSON.stringify(name)}; name it under targets of the channel webhook`,
      { fault: 'target' },
    );
  }
  // A signature with a guessable key is worthless.
  const fault = webhookSecretFault(target.secret);
  if (fault === null) return { name, target };
  throw new DeliveryError(`the secret of the webhook ${JSON.stringify(name)} ${fault}`, {
    fault: 'target',
  });
}

function headersOf(id: string, now: number, body: string, secret: string): Record<string, string> {
  const signatures = webhookKeys(secret).map((key) =>
    new Webhook(key, { format: 'raw' }).sign(id, new Date(now), body),
  );
  return {
    'content-type': 'application/json',
    'user-agent': 'holdpoint',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}
