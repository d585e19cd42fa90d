import type { ServerResponse } from 'node:http';
import type { Caller } from '../machines/task/task.ts';
import { ByteShares } from './byte-shares.ts';
import { addressGroup } from './middleware/client-address.ts';

/** Bytes of answers that may wait to be read, of all connections together (docs/contract/transports.md). */
const mostUnread = 64 * 1024 * 1024;

/** Maximum bytes of long bodies being received or processed, of all connections together. */
const mostReceived = 256 * 1024 * 1024;

/** Milliseconds without progress after which a reader is disconnected (docs/contract/transports.md). */
const usualPatience = 30_000;

/** Answers shorter than this are not counted: connections and the rate limit bound them. */
const shortAnswer = 16 * 1024;

/** Bodies shorter than this are not counted either. */
const shortBody = 64 * 1024;

/** Limits of unread bytes and of the time to read them. */
export interface TrafficLimits {
  unread: number;
  received: number;
  patience: number;
}

/** Counts the unread bytes from and to all callers. */
export class TrafficCount {
  readonly unread: ByteShares;
  readonly received: ByteShares;
  /** Milliseconds without progress after which a reader is disconnected. */
  readonly patience: number;

  constructor(limits: Partial<TrafficLimits> = {}) {
    const { unread = mostUnread, received = mostReceived } = limits;
    this.unread = new ByteShares({ most: unread, share: unread / 4 });
    // What is received is soon over, so a caller may have more of it.
    this.received = new ByteShares({ most: received, share: received / 2 });
    this.patience = limits.patience ?? usualPatience;
  }
}

/** The caller that is answered. */
interface Answered {
  caller: Caller | null;
  clientAddress: string;
}

/** Counts the unread bytes from and to the caller of one request. */
export class Traffic {
  readonly #count: TrafficCount;
  readonly #answered: Answered;
  /** Bytes of the request's body that are counted. */
  #body = 0;
  /** The progress of the answer: a piece waits to be read, or the rest does. */
  #sending: 'nothing' | 'piece' | 'rest' = 'nothing';

  constructor(count: TrafficCount, answered: Answered) {
    this.#count = count;
    this.#answered = answered;
  }

  /** Names a caller: by identity, from any address; without one by address. */
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
   * Counts an answer before it is written whole, unless it is short, until it is read or its reader is disconnected. A
   * `shared` answer is in memory once for all callers, and is not counted.
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
   * Writes a short, uncounted piece of a long answer unless the last piece is still unread; disconnects a reader that
   * makes no progress.
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

  /** Makes the response time out when its reader makes no progress; closes the connection unless a listener handles that. */
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
