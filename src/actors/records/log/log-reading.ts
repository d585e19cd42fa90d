import type { JsonObject } from '../../../machines/json.ts';
import { Chain } from './chain.ts';
import { GENESIS } from './chain-format.ts';
import { type SignatureReason, verifySignature } from './line-signature.ts';
import { readLine } from './read-line.ts';
import type { ChainVerdict, LineBreak, VerifyOptions } from './verdict.ts';

/** Maximum concurrent signature checks; at the limit, half of them are awaited before more start. */
const maximumPending = 512;

type Finding = Omit<LineBreak, 'file' | 'line'>;

/** A line whose signature is being verified. */
interface PendingLine {
  place: Omit<LineBreak, 'reason'>;
  reason: Promise<SignatureReason | null>;
}

/** Verifies a log and reports faults in the order of its lines. */
export class LogReading {
  readonly #options: VerifyOptions;
  readonly #chain: Chain;
  #pending: PendingLine[] = [];
  #first: LineBreak | null = null;
  #file = '';
  #line = 0;
  #signed = 0;

  constructor(options: VerifyOptions) {
    const { continuedFrom: from = GENESIS, kept = null } = options;
    this.#options = options;
    this.#chain = new Chain({ from, kept });
  }

  /** True once a bad line was found and no further lines are needed. */
  get isOver(): boolean {
    return this.#first !== null && this.#options.onBreak === undefined;
  }

  /** Starts the next file. */
  open(file: string): void {
    this.#file = file;
    this.#line = 0;
  }

  /** Verifies the next line, given without its newline and with its hash; `null` if there is nothing to await. */
  take(bytes: Uint8Array, hash: string): Promise<void> | null {
    this.#line += 1;
    const line = readLine(bytes);
    if (typeof line === 'string') {
      this.#chain.advance(null, hash);
      return this.#report({ reason: line });
    }
    return this.#takeObject(line, hash);
  }

  /** Reports an unreadable or missing line at the current position. */
  giveUp(finding: Finding): Promise<void> {
    this.#line += 1;
    return this.#report(finding);
  }

  /** Resolves with the verdict after every file is read. */
  async finish(): Promise<ChainVerdict> {
    await this.#drain();
    const missing = this.#chain.end();
    if (missing !== null) await this.giveUp(missing);
    if (this.#first !== null) return { ok: false, ...this.#first };
    const { events, head, checkpoint } = this.#chain;
    const upTo = checkpoint === null ? {} : { checkpoint };
    return { ok: true, events, signed: this.#signed, head, ...upTo };
  }

  #takeObject(line: JsonObject, hash: string): Promise<void> | null {
    const broken = this.#chain.check(line);
    const departed = this.#chain.advance(line, hash);
    if (line['sig'] !== undefined) this.#signed += 1;
    if (broken !== null) return this.#report({ ...broken, ...identityOf(line) });
    const reason = this.#verifySignature(line);
    if (departed !== null) return this.#reportDeparture(line, departed, reason);
    if (reason === null) return null;
    if (typeof reason === 'string') return this.#report({ reason, ...identityOf(line) });
    this.#pending.push({ place: { ...this.#place(), ...identityOf(line) }, reason });
    return this.#pending.length < maximumPending ? null : this.#drain(maximumPending / 2);
  }

  /** Prefers a bad signature over the deviation from the stored checkpoint, since it is more specific. */
  async #reportDeparture(
    line: JsonObject,
    departed: Finding,
    signature: ReturnType<typeof verifySignature>,
  ): Promise<void> {
    const reason = await signature;
    await this.#report({ ...(reason === null ? departed : { reason }), ...identityOf(line) });
  }

  #verifySignature(line: JsonObject) {
    const { keys = null, requireSigned = false } = this.#options;
    return verifySignature(line, { keys, requireSigned });
  }

  /** Awaits the signatures of earlier lines, so that breaks are reported in order. */
  async #report(finding: Finding): Promise<void> {
    const broken = { ...this.#place(), ...finding };
    await this.#drain();
    this.#tell(broken);
  }

  async #drain(count = this.#pending.length): Promise<void> {
    const pending = this.#pending.splice(0, count);
    // Awaited together, so that no rejection is unhandled.
    const reasons = await Promise.all(pending.map(({ reason }) => reason));
    for (const [index, { place }] of pending.entries()) {
      const reason = reasons[index] as SignatureReason | null;
      if (reason !== null) this.#tell({ ...place, reason });
    }
  }

  #tell(broken: LineBreak): void {
    this.#first ??= broken;
    this.#options.onBreak?.(broken);
  }

  #place(): { file: string; line: number } {
    return { file: this.#file, line: this.#line };
  }
}

function identityOf({ seq, event }: JsonObject): { seq?: number; event?: string } {
  return {
    ...(typeof seq === 'number' ? { seq } : {}),
    ...(typeof event === 'string' ? { event } : {}),
  };
}
