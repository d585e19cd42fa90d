import { createActor, fromPromise } from 'xstate';
import type {
  ApprovalNotice,
  ApprovalOutcome,
} from '../../src/machines/channels/approval-notice.ts';
import {
  type DeliveryFailure,
  type DeliveryInput,
  deliveryMachine,
  type NoticeVersion,
  type PostOutcome,
  type ToldNotice,
  type UpdateInput,
  type UpdateOutcome,
} from '../../src/machines/channels/delivery-machine.ts';
import { aNotice } from './approval-notices.ts';
import { ManualClock } from './manual-clock.ts';

export const approved = {
  kind: 'approved',
  approver: 'ann',
  note: '',
  at: 9,
  outcome: { kind: 'ran' },
} as const satisfies ApprovalOutcome;

/** The versions of one notice: a reminder, approvals that are counted, the end. */
export const versions = {
  asked: { version: 1, notice: aNotice() },
  reminded: { version: 2, notice: aNotice({ stage: 'reminded' }) },
  counted: {
    version: 3,
    notice: aNotice({ stage: 'reminded', approvals: [{ approver: 'ann', at: 5 }] }),
  },
  ended: { version: 4, notice: aNotice({ stage: 'reminded' }, approved) },
} satisfies Record<string, NoticeVersion>;

export const later: DeliveryFailure = {
  kind: 'failed',
  fault: 'later',
  retryAfter: null,
  reason: 'down',
  isDefect: false,
};
export const atTarget: DeliveryFailure = { ...later, fault: 'target' };
export const forGood: DeliveryFailure = { ...later, fault: 'message' };

interface Sent {
  did: string;
  notice: ApprovalNotice;
  end: PromiseWithResolvers<never>;
}

/** A delivery of which everything is noted, to a service that answers when and how a test says. */
export function startDelivery(input: Partial<DeliveryInput> = {}) {
  const clock = new ManualClock(0);
  const sent: Sent[] = [];
  const kept: unknown[] = [];
  const noted: string[] = [];
  const givenUp: ApprovalNotice[] = [];
  const send = (did: string, notice: ApprovalNotice): Promise<never> => {
    const end = Promise.withResolvers<never>();
    sent.push({ did, notice, end });
    return end.promise;
  };
  const actor = createActor(
    deliveryMachine.provide({
      actors: {
        post: fromPromise<PostOutcome, { notice: ApprovalNotice }>(({ input: { notice } }) =>
          send('post', notice),
        ),
        update: fromPromise<UpdateOutcome, UpdateInput>(({ input: { ref, notice, news } }) =>
          send(`${news} ${String(ref['ts'])}`, notice),
        ),
      },
      actions: {
        keepRef: (_, { ref, told }) => void kept.push([told.version, told.isClosed, ref]),
        keepTold: (_, { version, isClosed }: ToldNotice) => void kept.push([version, isClosed]),
        noteFailure: (_, { fault }: DeliveryFailure) => void noted.push(fault),
        noteGivenUp: (_, notice: ApprovalNotice) => {
          noted.push('given up');
          givenUp.push(notice);
        },
      },
    }),
    { clock, input: { ref: null, told: null, latest: versions.asked, ...input } },
  ).start();
  return {
    clock,
    sent,
    kept,
    noted,
    givenUp,
    did: () => sent.map(({ did }) => did),
    state: () => JSON.stringify(actor.getSnapshot().value).replaceAll(/[{}"]/g, ''),
    /** What it says of itself: whether a try is under way or waits, and whether it is over. */
    tags: () => [...actor.getSnapshot().tags],
    isOver: () => actor.getSnapshot().status === 'done',
    change: (latest: NoticeVersion) => actor.send({ type: 'notice.changed', latest }),
    stop: () => actor.stop(),
    async answer(outcome: 'taken' | DeliveryFailure) {
      const last = sent.at(-1);
      const taken =
        last?.did === 'post' ? { kind: 'posted', ref: { ts: '1' } } : { kind: 'updated' };
      last?.end.resolve((outcome === 'taken' ? taken : outcome) as never);
      for (let turn = 0; turn < 4; turn += 1) await Promise.resolve();
    },
  };
}

export const posted = { ref: { ts: '1' }, told: versions.asked.notice };
