/** Limits of concurrent posts. */
export interface PostTurnsOptions {
  /** 64 by default. */
  most?: number;
  /** Limit for one host; 8 by default. */
  mostOfHost?: number;
}

/** The posts of one host: the number of running ones, and the waiting ones, oldest first. */
interface Line {
  underway: number;
  waiting: Set<() => void>;
}

/**
 * Limits concurrent posts. Hosts take turns and each has a maximum share, so an unresponsive host delays only its own
 * posts.
 */
export class PostTurns {
  readonly #most: number;
  readonly #mostOfHost: number;
  /** In the order of their next turn. */
  readonly #lines = new Map<string, Line>();
  #underway = 0;

  constructor({ most = 64, mostOfHost = 8 }: PostTurnsOptions = {}) {
    this.#most = most;
    this.#mostOfHost = mostOfHost;
  }

  /** Runs a post in its turn. Rejects like the post, or with the signal's reason. */
  async take<Result>(
    host: string,
    signal: AbortSignal,
    post: () => Promise<Result>,
  ): Promise<Result> {
    signal.throwIfAborted();
    const line = this.#lines.get(host) ?? { underway: 0, waiting: new Set() };
    this.#lines.set(host, line);
    await this.#turn(line, signal);
    try {
      return await post();
    } finally {
      line.underway -= 1;
      this.#underway -= 1;
      if (line.underway === 0 && line.waiting.size === 0) this.#lines.delete(host);
      this.#next();
    }
  }

  /** Resolves once the post may run and is counted as running. */
  async #turn(line: Line, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      if (line.waiting.delete(resolve)) reject(signal.reason);
    };
    line.waiting.add(resolve);
    signal.addEventListener('abort', leave, { once: true });
    this.#next();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Assigns all free turns to the hosts in rotation. */
  #next(): void {
    for (const [host, line] of this.#lines) {
      if (this.#underway >= this.#most) return;
      const [first] = line.waiting;
      if (first === undefined || line.underway >= this.#mostOfHost) continue;
      line.waiting.delete(first);
      line.underway += 1;
      this.#underway += 1;
      // Moves a served host to the end; the loop visits it again there.
      this.#lines.delete(host);
      this.#lines.set(host, line);
      first();
    }
  }
}
