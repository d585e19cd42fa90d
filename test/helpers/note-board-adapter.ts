import {
  type ChannelAdapter,
  type ChannelState,
  DeliveryError,
} from '../../src/actors/channels/channel-adapter.ts';
import type { Clock } from '../../src/actors/ports/clock.ts';
import type {
  ApprovalNews,
  ApprovalNotice,
  MessageRef,
} from '../../src/machines/channels/approval-notice.ts';

/** A note that a person pinned to, or wrote on, a board. */
export interface Pinned {
  target: string;
  deferralId: string;
  did: 'posted' | ApprovalNews;
  /** The end of the wait according to the note; `null` when it has none. */
  outcome: string | null;
  note: number;
}

/** An adapter whose service is a board in memory, which can be made to fail. */
export class NoteBoardAdapter implements ChannelAdapter {
  readonly name;
  readonly capabilities = { approvals: true, conversations: false };
  /** Everything that was pinned or written, in order. */
  readonly pinned: Pinned[] = [];
  /** How many calls there were, and how many at once at most, in all and for one target and kind. */
  readonly calls = { all: 0, most: 0, mostOfOne: 0 };
  /** Is asked before each call: an error is what the board answers, a promise is waited for. */
  answer: (notice: ApprovalNotice, kind: 'post' | 'update') => unknown = () => undefined;
  isStopped = false;
  #state: ChannelState = 'connecting';
  #onState: (state: ChannelState) => void = () => undefined;
  readonly #now = new Map<string, number>();

  readonly mostAtOnce: number;

  constructor(name = 'board', capabilities: { approvals?: boolean } = {}, mostAtOnce = 1) {
    this.name = name;
    this.mostAtOnce = mostAtOnce;
    Object.assign(this.capabilities, capabilities);
  }

  get state(): ChannelState {
    return this.#state;
  }

  start(onState: (state: ChannelState) => void): void {
    this.#onState = onState;
  }

  /** Sets the state of the board. */
  become(state: ChannelState): void {
    this.#state = state;
    this.#onState(state);
  }

  async stop(): Promise<void> {
    this.isStopped = true;
  }

  async deliver(notice: ApprovalNotice): Promise<MessageRef> {
    await this.#call(notice, 'post');
    const note = this.pinned.filter(({ did }) => did === 'posted').length + 1;
    this.#pin(notice, 'posted', note);
    return { note };
  }

  async update(ref: MessageRef, notice: ApprovalNotice, news: ApprovalNews): Promise<void> {
    await this.#call(notice, 'update');
    this.#pin(notice, news, Number(ref['note']));
  }

  async #call(notice: ApprovalNotice, kind: 'post' | 'update'): Promise<void> {
    const one = `${kind} ${notice.request.target}`;
    this.#count(one, 1);
    try {
      const answer = await this.answer(notice, kind);
      if (answer instanceof Error) throw answer;
    } finally {
      this.#count(one, -1);
    }
  }

  #count(one: string, step: number): void {
    const own = (this.#now.get(one) ?? 0) + step;
    this.#now.set(one, own);
    const all = [...this.#now.values()].reduce((sum, count) => sum + count, 0);
    const { calls } = this;
    if (step > 0) calls.all += 1;
    calls.most = Math.max(calls.most, all);
    calls.mostOfOne = Math.max(calls.mostOfOne, own);
  }

  #pin({ request, outcome }: ApprovalNotice, did: Pinned['did'], note: number): void {
    const { target, deferralId } = request;
    this.pinned.push({ target, deferralId, did, outcome: outcome?.kind ?? null, note });
  }
}

/** An answer of a service that takes one message in so many milliseconds, and says when to come back. */
export function oneEvery(milliseconds: number, clock: Clock): () => DeliveryError | undefined {
  let free = 0;
  return () => {
    const wait = free - clock.now();
    if (wait > 0) return new DeliveryError('too many', { fault: 'later', retryAfter: wait });
    free = clock.now() + milliseconds;
    return undefined;
  };
}
