import type { Clock } from '../../actors/ports.ts';

/** How many sessions there may be. */
export interface SessionLimits {
  /** In all. */
  most: number;
  /** Of one share. */
  mostOfShare: number;
  /** Milliseconds that a session lasts which nobody uses. */
  longestRest: number;
}

/** What a pool knows of a session. */
export interface PooledSession {
  /** Whoever it counts for. */
  share: string;
  /** Ends it, as it had to make room or nobody uses it. */
  close(): void;
}

interface Kept<Session> {
  session: Session;
  usedAt: number;
  /** Calls of it that are under way. */
  calls: number;
}

/**
 * Keeps sessions by their ids within limits. A session with a call under way stays; of the others the one that was used
 * longest ago makes room for a new one, first of the same share.
 */
export class SessionPool<Session extends PooledSession> {
  readonly #limits: SessionLimits;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #all = new Map<string, Kept<Session>>();
  /** Ids of those without a call, by when they were used, the oldest first; in all and of each share. */
  readonly #idle = new Set<string>();
  readonly #idleOf = new Map<string, Set<string>>();
  readonly #sizeOf = new Map<string, number>();

  constructor(limits: SessionLimits, clock: Pick<Clock, 'now'>) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** The number of sessions. */
  get size(): number {
    return this.#all.size;
  }

  /** Returns every session. */
  *sessions(): Iterable<Session> {
    for (const { session } of this.#all.values()) yield session;
  }

  /** Tells whether a share may have one more session. */
  hasRoom(share: string): boolean {
    const isFull = this.#all.size >= this.#limits.most;
    const hasAll = (this.#sizeOf.get(share) ?? 0) >= this.#limits.mostOfShare;
    if (hasAll) return this.#idleOf.has(share);
    return !isFull || this.#idle.size > 0;
  }

  /** Keeps a session, in place of one that makes room where there is none left. */
  add(id: string, session: Session): void {
    this.#endRested();
    const { share } = session;
    const size = this.#sizeOf.get(share) ?? 0;
    const { most, mostOfShare } = this.#limits;
    if (size >= mostOfShare) this.#end(first(this.#idleOf.get(share)));
    else if (this.#all.size >= most) this.#end(first(this.#idleOf.get(share)) ?? first(this.#idle));
    this.#sizeOf.set(share, (this.#sizeOf.get(share) ?? 0) + 1);
    const kept = { session, usedAt: this.#clock.now(), calls: 0 };
    this.#all.set(id, kept);
    this.#rest(id, kept);
  }

  /** Finds a session, which is thereby used; `null` when it is not there. */
  find(id: string): Session | null {
    const kept = this.#all.get(id);
    if (kept === undefined) return null;
    if (this.#isOver(kept)) {
      this.#end(id);
      return null;
    }
    kept.usedAt = this.#clock.now();
    if (kept.calls === 0) this.#rest(id, kept);
    return kept.session;
  }

  /** Keeps a session for a call, until what this returns is run. */
  begin(id: string): () => void {
    const kept = this.#all.get(id);
    if (kept === undefined) return () => undefined;
    kept.calls += 1;
    this.#unrest(id, kept.session.share);
    return () => {
      kept.calls -= 1;
      if (kept.calls > 0 || this.#all.get(id) !== kept) return;
      kept.usedAt = this.#clock.now();
      this.#rest(id, kept);
    };
  }

  /** Forgets a session that has ended. */
  delete(id: string): void {
    const kept = this.#all.get(id);
    if (kept === undefined) return;
    const { share } = kept.session;
    this.#all.delete(id);
    this.#unrest(id, share);
    const left = (this.#sizeOf.get(share) ?? 0) - 1;
    if (left > 0) this.#sizeOf.set(share, left);
    else this.#sizeOf.delete(share);
  }

  #isOver({ usedAt, calls }: Kept<Session>): boolean {
    return calls === 0 && this.#clock.now() - usedAt > this.#limits.longestRest;
  }

  #endRested(): void {
    for (const id of this.#idle) {
      const kept = this.#all.get(id);
      if (kept !== undefined && !this.#isOver(kept)) return;
      this.#end(id);
    }
  }

  #end(id: string | undefined): void {
    const kept = id === undefined ? undefined : this.#all.get(id);
    if (id === undefined || kept === undefined) return;
    this.delete(id);
    kept.session.close();
  }

  /** Puts a session behind all that were used before. */
  #rest(id: string, { session: { share } }: Kept<Session>): void {
    this.#unrest(id, share);
    this.#idle.add(id);
    const idle = this.#idleOf.get(share) ?? new Set();
    this.#idleOf.set(share, idle.add(id));
  }

  #unrest(id: string, share: string): void {
    this.#idle.delete(id);
    const idle = this.#idleOf.get(share);
    idle?.delete(id);
    if (idle?.size === 0) this.#idleOf.delete(share);
  }
}

function first(ids: ReadonlySet<string> | undefined): string | undefined {
  return ids?.values().next().value;
}
