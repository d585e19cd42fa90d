import type { ServerResponse } from 'node:http';
import type { Caller } from '../machines/domain/task.ts';
import { addressGroup } from './client-address.ts';

/**
 * Counts the bytes buffered for callers. The total limit is `most` and each caller's limit is `share`, so no caller can
 * exhaust the memory of the others.
 */
export class ByteShares {
  readonly #most: number;
  readonly #share: number;
  readonly #byCaller = new Map<string, number>();
  #all = 0;

  constructor({ most, share }: { most: number; share: number }) {
    this.#most = most;
    this.#share = share;
  }

  /**
   * Returns true if the bytes fit. A caller's first entry may exceed its share, and the first entry of all may exceed
   * any limit.
   */
  hasRoom(caller: { name: string }, bytes: number): boolean {
    if (this.#all === 0) return true;
    if (this.#all + bytes > this.#most) return false;
    // Avoids the look-up of the name while the counts are empty, which is the usual case.
    const kept = this.#byCaller.get(caller.name) ?? 0;
    return kept === 0 || kept + bytes <= this.#share;
  }

  /** Counts bytes for a caller; a negative number subtracts them. */
  add(caller: { name: string }, bytes: number): void {
    if (bytes === 0) return;
    const { name } = caller;
    this.#all += bytes;
    const kept = (this.#byCaller.get(name) ?? 0) + bytes;
    if (kept === 0) this.#byCaller.delete(name);
    else this.#byCaller.set(name, kept);
  }
}

/** Maximum unread response bytes of all connections together (docs/contract/transports.md). */
const mostUnread = 64 * 1024 * 1024;

/** Maximum bytes of long bodies being received or processed, all connections together. */
const mostReceived = 256 * 1024 * 1024;

/** Milliseconds without progress after which a reader is disconnected (docs/contract/transports.md). */
const usualPatience = 30_000;

/** Responses below this size are not counted; the limits of connections and rate bound them. */
const shortAnswer = 16 * 1024;

/** Bodies below this size are not counted either. */
const shortBody = 64 * 1024;

/** Limits of unread bytes and the time to read them. */
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
    // Bodies are in memory only briefly, so one caller may use a larger share.
    this.received = new ByteShares({ most: received, share: received / 2 });
    this.patience = limits.patience ?? usualPatience;
  }
}

/** The caller that receives a response. */
interface Answered {
  caller: Caller | null;
  clientAddress: string;
}

/** Counts the unread bytes from and to the caller of one request. */
export class Traffic {
  readonly #count: TrafficCount;
  readonly #answered: Answered;
  /** Counted bytes of the request's body. */
  #body = 0;
  /** Progress of the response: a piece is unread, or the rest is. */
  #sending: 'nothing' | 'piece' | 'rest' = 'nothing';

  constructor(count: TrafficCount, answered: Answered) {
    this.#count = count;
    this.#answered = answered;
  }

  /** Name of the caller: its identity, or its address if unauthenticated. */
  get name(): string {
    const { caller, clientAddress } = this.#answered;
    if (caller === null) return `address ${addressGroup(clientAddress)}`;
    return `caller ${caller.provider} ${caller.orgId ?? ''} ${caller.userId}`;
  }

  /** Returns true if a response of this size may be written now. Short responses are always allowed. */
  mayHave(bytes: number): boolean {
    return bytes < shortAnswer || this.mayKeep(bytes);
  }

  /** Returns true if this many more bytes may be buffered until they can be written. */
  mayKeep(bytes: number): boolean {
    return this.#count.unread.hasRoom(this, bytes);
  }

  /** Counts unread bytes; a negative number subtracts them. */
  add(bytes: number): void {
    this.#count.unread.add(this, bytes);
  }

  /**
   * Counts a response before it is written, unless it is short, until it is read or its reader is disconnected. A
   * `shared` response is one in-memory copy for all callers and is not counted.
   */
  hold(response: ServerResponse, { bytes, shared }: { bytes: number; shared: boolean }): void {
    if (bytes < shortAnswer) return;
    this.#sending = 'rest';
    if (!shared) {
      this.add(bytes);
      response.once('close', () => this.add(-bytes));
    }
    this.limitStall(response);
    // After the response, Node sets its own timeout for an idle connection, and none if another request is pipelined
    // behind this one.
    const { socket } = response.req;
    response.once('finish', () => {
      if (socket.timeout === this.#count.patience) socket.setTimeout(0);
    });
  }

  /**
   * Writes a short, uncounted piece of a long response, unless the last piece is still unread. Disconnects a reader
   * that makes no progress.
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

  /**
   * Sets a timeout for a reader that makes no progress. Closes the connection unless a listener handles the timeout.
   */
  limitStall(response: ServerResponse): void {
    response.setTimeout(this.#count.patience);
  }

  /**
   * Counts a body before it is received, unless it is short, until `forget` or the end of the response. Returns false
   * if there is no room for it.
   */
  receive(response: ServerResponse, bytes: number): boolean {
    if (bytes < shortBody) return true;
    if (!this.#count.received.hasRoom(this, bytes)) return false;
    this.#count.received.add(this, bytes);
    this.#body += bytes;
    response.once('close', () => this.forget());
    return true;
  }

  /** Uncounts the body once it is no longer referenced. */
  forget(): void {
    this.#count.received.add(this, -this.#body);
    this.#body = 0;
  }
}
