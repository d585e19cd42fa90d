import { createServer, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { vi } from 'vitest';
import type { ChannelAdapter } from '../../src/actors/channels/channel-adapter.ts';
import { createWebhookAdapter } from '../../src/actors/channels/webhook/webhook-adapter.ts';
import type { WebhookEvent } from '../../src/actors/channels/webhook/webhook-event.ts';
import { anEgress } from '../actors/outbound/egress/an-egress.ts';
import { listenOnLoopback } from './listen-on-loopback.ts';
import type { ManualClock } from './manual-clock.ts';
import { patient } from './patient.ts';

/** The target of the one webhook. */
export const heldTarget = 'channel:webhook:ops';

/** An adapter of webhooks whose receiver answers each post when a test lets it. */
export interface HeldWebhook {
  adapter: ChannelAdapter;
  /** Answers the newest post about a deferral, once it has come. */
  answer(deferralId: string, status: number, headers?: OutgoingHttpHeaders): Promise<void>;
  /** Never answers the newest post about a deferral, once it has come. */
  leave(deferralId: string): Promise<void>;
}

/** Opens one until the test has finished. */
export async function openHeldWebhook(clock: ManualClock): Promise<HeldWebhook> {
  const waiting = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as WebhookEvent;
      waiting.set(String(data['deferral_id']), response);
    });
  });
  const { port } = new URL(await listenOnLoopback(server));
  const adapter = createWebhookAdapter({
    settings: {
      dashboardUrl: null,
      targets: {
        ops: {
          url: `http://ops.example.test:${port}/`,
          secret: `whsec_${Buffer.alloc(32, 'k').toString('base64')}`,
        },
      },
    },
    agentUrl: () => 'http://127.0.0.1:8080',
    agentId: 'refunds',
    outbound: anEgress().egress,
    clock,
  });
  const take = async (deferralId: string) => {
    const response = await vi.waitUntil(() => waiting.get(deferralId), { ...patient, interval: 3 });
    waiting.delete(deferralId);
    return response;
  };
  return {
    adapter,
    async answer(deferralId, status, headers) {
      (await take(deferralId)).writeHead(status, headers).end();
    },
    async leave(deferralId) {
      await take(deferralId);
    },
  };
}
