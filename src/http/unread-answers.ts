import type { ServerResponse } from 'node:http';
import type { Caller } from '../machines/task/task.ts';
import { addressGroup } from './middleware/client-address.ts';

/** Bytes of answers that may wait to be read, of all connections together (contract section 5). */
const usualMost = 64 * 1024 * 1024;

/** Milliseconds after which a reader who takes nothing is let go (contract section 5). */
const usualPatience = 30_000;

/** Answers shorter than this are not counted: connections and the rate limit bound them. */
const shortAnswer = 16 * 1024;

/** How much may wait to be read, and for how long. */
export interface UnreadLimits {
  most: number;
  patience: number;
}

/**
 * Counts the bytes of answers that have been written and not yet read. One caller may have a quarter of
 * them, so that nobody else is refused for a caller who reads nothing.
 */
export class UnreadAnswers {
  /** Milliseconds after which a reader who takes nothing is let go. */
  readonly patience: number;
  readonly #most: number;
  readonly #share: number;
  readonly #byReader = new Map<string, number>();
  #all = 0;

  constructor({ most = usualMost, patience = usualPatience }: Partial<UnreadLimits> = {}) {
    this.patience = patience;
    this.#most = most;
    this.#share = most / 4;
  }

  /** Tells whether so many bytes more may wait for a reader. Whoever waits for nothing may have one answer of any length. */
  hasRoom(reader: Pick<Reader, 'name'>, bytes: number): boolean {
    if (this.#all === 0) return true;
    if (this.#all + bytes > this.#most) return false;
    const waiting = this.#byReader.get(reader.name) ?? 0;
    return waiting === 0 || waiting + bytes <= this.#share;
  }

  /** Counts bytes for a reader; a negative number counts them off again. */
  add({ name }: Pick<Reader, 'name'>, bytes: number): void {
    this.#all += bytes;
    const waiting = (this.#byReader.get(name) ?? 0) + bytes;
    if (waiting === 0) this.#byReader.delete(name);
    else this.#byReader.set(name, waiting);
  }
}

/** Who is answered. */
interface Answered {
  caller: Caller | null;
  clientAddress: string;
}

/** One caller, as far as answers wait to be read. */
export class Reader {
  readonly #unread: UnreadAnswers;
  readonly #answered: Answered;

  constructor(unread: UnreadAnswers, answered: Answered) {
    this.#unread = unread;
    this.#answered = answered;
  }

  /** One caller is one reader, from wherever they come; who has not signed in goes by their address. */
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
    return this.#unread.hasRoom(this, bytes);
  }

  /** Counts bytes that wait; a negative number counts them off again. */
  add(bytes: number): void {
    if (bytes !== 0) this.#unread.add(this, bytes);
  }

  /** Counts an answer that is about to be written whole, unless it is short, until it is read or its reader let go. */
  hold(response: ServerResponse, bytes: number): void {
    if (bytes < shortAnswer) return;
    this.add(bytes);
    response.once('close', () => this.add(-bytes));
    this.limitStall(response);
    // Node sets another time for a connection that is idle from here on, and none where a request waits behind this one.
    const { socket } = response.req;
    response.once('finish', () => {
      if (socket.timeout === this.#unread.patience) socket.setTimeout(0);
    });
  }

  /** From now on, has the response time out when nothing of it is taken for a while; its connection is cut unless somebody listens. */
  limitStall(response: ServerResponse): void {
    response.setTimeout(this.#unread.patience);
  }
}
