import type { DeliveryFailure } from '../../machines/channels/delivery-machine.ts';

/** Messages of one target, posts and updates each for themselves, that may be set aside at once. */
export const mostSetAside = 4;

/**
 * Messages that fail where others may not: an adapter breaks on them, or a receiver refuses them again and again.
 * They are tried as before, and hold up nobody else of their target meanwhile. They are few, so that a target
 * that takes nothing at all is still asked in order.
 */
export class SetAside {
  readonly #slots = new Map<number, string>();
  readonly #failures = new Map<number, number>();

  /** The positions of their rows. */
  get positions(): number[] {
    return [...this.#slots.keys()];
  }

  has(position: number): boolean {
    return this.#slots.has(position);
  }

  /** Counts a failure of a row; a service that only asks for time says nothing against its message. */
  failed(position: number, slot: string, failure: DeliveryFailure): void {
    if (isPace(failure) || this.has(position)) return;
    const failures = (this.#failures.get(position) ?? 0) + 1;
    this.#failures.set(position, failures);
    if (failures < mostFailures(failure)) return;
    const others = [...this.#slots.values()].filter((other) => other === slot);
    if (others.length < mostSetAside) this.#slots.set(position, slot);
  }

  /** Forgets a row that was told, or is no longer tried. */
  forget(position: number): void {
    this.#slots.delete(position);
    this.#failures.delete(position);
  }
}

/** Tells whether a service only asks for time, such as with 429 and `Retry-After`. */
export function isPace({ fault, retryAfter }: DeliveryFailure): boolean {
  return fault === 'later' && retryAfter !== null;
}

/** A defect has nothing to do with others; what a service says may be about all of its messages at first. */
function mostFailures({ fault, isDefect }: DeliveryFailure): number {
  if (isDefect) return 1;
  return fault === 'target' ? 2 : 3;
}
