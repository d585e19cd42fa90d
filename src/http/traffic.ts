import type { ServerResponse } from 'node:http';
import type { Caller } from '../machines/task/task.ts';
import { ByteShares } from './byte-shares.ts';
import { addressGroup } from './middleware/client-address.ts';

/** Bytes of answers that may wait to be read, of all connections together (contract section 5). */
const mostUnread = 64 * 1024 * 1024;

/** Bytes of long bodies that may be received, or held with what they ask for, of all connections together. */
const mostReceived = 256 * 1024 * 1024;

/** Milliseconds after which a reader who takes nothing is let go (contract section 5). */
const usualPatience = 30_000;

/** Answers shorter than this are not counted: connections and the rate limit bound them. */
const shortAnswer = 16 * 1024;

/** Bodies shorter than this are not counted either. */
const shortBody = 64 * 1024;

/** How much may be on its way at once, and for how long. */
export interface TrafficLimits {
  unread: number;
  received: number;
  patience: number;
}

/** What is on its way from and to all callers. */
export class TrafficCount {
  readonly unread: ByteShares;
  readonly received: ByteShares;
  /** Milliseconds after which a reader who takes nothing is let go. */
  readonly patience: number;

  constructor(limits: Partial<TrafficLimits> = {}) {
    const { unread = mostUnread, received = mostReceived } = limits;
    this.unread = new ByteShares({ most: unread, share: unread / 4 });
    // What is received is soon over, so a caller may have more of it.
    this.received = new ByteShares({ most: received, share: received / 2 });
    this.patience = limits.patience ?? usualPatience;
  }
}

/** Who is answered. */
interface Answered {
  caller: Caller | null;
  clientAddress: string;
}

/** What is on its way from and to the caller of one request. */
export class Traffic {
  readonly #count: TrafficCount;
  readonly #answered: Answered;
  /** Bytes of the request's body that are counted. */
  #body = 0;
  /** How far the answer has gone: a piece of it waits to be taken, or the rest of it does. */
  #sending: 'nothing' | 'piece' | 'rest' = 'nothing';

  constructor(count: TrafficCount, answered: Answered) {
    this.#count = count;
    this.#answered = answered;
  }

  /** One identity is one caller, from wherever they come; who has not signed in goes by their address. */
  get name(): string {
    const { caller, clientAddress } = this.#answered;
    if (caller === null) return `address ${addressGroup(clientAddress)}`;
    return `caller ${caller.provider} ${caller.orgId ?? ''} ${caller.userId}`;
  }

  /** Tells whether an answer of so many bytes may be written now; a short one always may. */
  mayHave(bytes: number): boolean {
    return bytes < shortAnswer || this.mayKeep(bytes);
  }

  /** Tells whether so many bytes more may be kept until they can be written. */
  mayKeep(bytes: number): boolean {
    return this.#count.unread.hasRoom(this, bytes);
  }

  /** Counts bytes that wait to be read; a negative number counts them off again. */
  add(bytes: number): void {
    this.#count.unread.add(this, bytes);
  }

  /**
   * Counts an answer that is about to be written whole, unless it is short, until it is read or its reader let go.
   * One that is `shared` by all who ask is in memory once, and is not counted.
   */
  hold(response: ServerResponse, { bytes, shared }: { bytes: number; shared: boolean }): void {
    if (bytes < shortAnswer) return;
    this.#sending = 'rest';
    if (!shared) {
      this.add(bytes);
      response.once('close', () => this.add(-bytes));
    }
    this.limitStall(response);
    // Node sets another time for a connection that is idle from here on, and none where a request waits behind this one.
    const { socket } = response.req;
    response.once('finish', () => {
      if (socket.timeout === this.#count.patience) socket.setTimeout(0);
    });
  }

  /**
   * Writes a piece of an answer that is long in coming, so short that it is not counted, unless the last one still
   * waits to be taken: whoever takes none for a while is let go.
   */
  trickle(response: ServerResponse, piece: string): void {
    if (this.#sending !== 'nothing') return;
    this.#sending = 'piece';
    this.limitStall(response);
    response.write(piece, () => {
      if (this.#sending !== 'piece') return;
      this.#sending = 'nothing';
      response.setTimeout(0);
    });
  }

  /** From now on, has the response time out when nothing of it is taken for a while; its connection is cut unless somebody listens. */
  limitStall(response: ServerResponse): void {
    response.setTimeout(this.#count.patience);
  }

  /**
   * Counts a body that is about to be received, unless it is short, until `forget` or the end of the
   * response; false when there is no room for it.
   */
  receive(response: ServerResponse, bytes: number): boolean {
    if (bytes < shortBody) return true;
    if (!this.#count.received.hasRoom(this, bytes)) return false;
    this.#count.received.add(this, bytes);
    this.#body += bytes;
    response.once('close', () => this.forget());
    return true;
  }

  /** Counts the body off again, once nothing holds it any more. */
  forget(): void {
    this.#count.received.add(this, -this.#body);
    this.#body = 0;
  }
}
