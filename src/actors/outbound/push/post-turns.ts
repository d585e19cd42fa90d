/** How many posts may be under way at once. */
export interface PostTurnsOptions {
  /** 64 when left out. */
  most?: number;
  /** To one host; 8 when left out. */
  mostOfHost?: number;
}

/** The posts of one host: how many are under way, and those that wait, oldest first. */
interface Line {
  underway: number;
  waiting: Set<() => void>;
}

/**
 * Bounds the posts under way. Hosts take turns, and none has more than its share, so that
 * one that answers nobody keeps the others waiting no longer than its own.
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

  /** Runs a post when its turn comes. Rejects as the post does, or with the signal's reason. */
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

  /** Resolves once the post counts as under way. */
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

  /** Gives every turn there is to the hosts in rotation. */
  #next(): void {
    for (const [host, line] of this.#lines) {
      if (this.#underway >= this.#most) return;
      const [first] = line.waiting;
      if (first === undefined || line.underway >= this.#mostOfHost) continue;
      line.waiting.delete(first);
      line.underway += 1;
      this.#underway += 1;
      // Whoever had a turn goes to the end; the loop comes by there again.
      this.#lines.delete(host);
      this.#lines.set(host, line);
      first();
    }
  }
}
