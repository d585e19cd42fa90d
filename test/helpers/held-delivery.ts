import { onTestFinished } from 'vitest';
import type { AnyActorRef } from 'xstate';
import { Lanes, laneOf } from '../../src/actors/channels/lanes.ts';
import { createDeliveryLogic, LiveDelivery } from '../../src/actors/channels/live-delivery.ts';
import type { ApprovalRow, ApprovalWrite } from '../../src/actors/records/records.ts';
import type { ApprovalNotice } from '../../src/machines/channels/approval-notice.ts';
import type { DeliveryInput } from '../../src/machines/channels/delivery-machine.ts';
import { aNotice } from './approval-notices.ts';
import { heldTarget, openHeldWebhook } from './held-webhook.ts';
import { ManualClock } from './manual-clock.ts';

const call = { target: heldTarget, deferralId: 'call-1' };
const reminded = aNotice({ ...call, stage: 'reminded' });
const approved = {
  kind: 'approved',
  approver: 'ann',
  note: '',
  at: 1,
  outcome: { kind: 'ran' },
} as const;

/** What a target is to know, by the number of changes that led to it; the third says nothing new. */
const notices: readonly ApprovalNotice[] = [
  aNotice(call),
  reminded,
  reminded,
  aNotice({ ...call, stage: 'reminded' }, approved),
];

/** A notice with its version. */
export const versionOf = (version: number) => ({
  version,
  notice: notices[version] ?? aNotice(call),
});

/** The changes that were not posted yet. */
export const asked: DeliveryInput = { ref: null, told: null, latest: versionOf(0) };

/** A delivery from the store, by a webhook that answers when a test lets it. */
export async function openDelivery(actors: readonly AnyActorRef[], input: DeliveryInput) {
  const clock = new ManualClock(0);
  const { adapter, answer, leave } = await openHeldWebhook(clock);
  const lanes = new Lanes({ clock, most: 16, mostOfOne: 4, onRoom: () => lanes.letIn() });
  const kept: ApprovalWrite[] = [];
  const failures: string[] = [];
  const givenUp: ApprovalNotice[] = [];
  const logic = createDeliveryLogic({
    ...{ adapter, lanes, clock },
    ticketOf: ({ request: { target, expiresAt } }, isPosted) => ({
      ...{ lane: laneOf(target, isPosted), position: 1, expiresAt, isQuarantined: false },
    }),
    keep: (write) => void kept.push(write),
    onFailure: (_, { fault }) => void failures.push(fault),
    onGivenUp: (notice) => void givenUp.push(notice),
  });
  const row: ApprovalRow = { position: 1, adapter: 'webhook', ...input, ...input.latest };
  const ignore = () => undefined;
  const delivery = new LiveDelivery(logic, clock, row, { onMoved: ignore, onBroken: ignore });
  onTestFinished(() => {
    delivery.stop();
    lanes.stop();
  });
  delivery.start();
  return {
    ...{ actors, clock, kept, failures, givenUp },
    answer: (status: number) => answer('call-1', status),
    leave: () => leave('call-1'),
    change: (version: number) => delivery.change({ ...row, ...versionOf(version) }),
  };
}
