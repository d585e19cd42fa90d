import { basename } from 'node:path';
import type { AuditEvent } from '../../ports/audit-event.ts';
import { checkpoint } from '../log/chain-format.ts';
import { chainLine } from '../log/chain-line.ts';
import type { LineSigner } from '../log/line-signer.ts';
import type { FinishedFile } from '../log/log-files.ts';
import type { AuditHead } from './audit-head.ts';

/** Maximum number of events between two checkpoints (docs/contract/audit.md). */
const checkpointEvery = 1_000;

/** Options for preparing log lines. */
export interface NextLinesOptions {
  /** False omits `prev_hash`. */
  chain: boolean;
  signer: LineSigner | null;
}

/** Chains events to the end of a log, with checkpoints in between when due. */
export class NextLines {
  /** Position of the log including these lines. */
  readonly head: AuditHead;
  readonly #options: NextLinesOptions;
  readonly #start: number;
  #text = '';

  constructor(head: AuditHead, options: NextLinesOptions) {
    this.head = { ...head };
    this.#start = head.bytes;
    this.#options = options;
  }

  /** Adds events of the agent. */
  add(events: readonly AuditEvent[]): void {
    for (const event of events) {
      this.#addLine(event);
      if (this.head.events - this.head.checkpointed >= checkpointEvery) this.checkpoint(event.ts);
    }
  }

  /** Adds a checkpoint. */
  checkpoint(ts: string): void {
    const { head } = this;
    this.#addLine(checkpoint(ts, { count: head.events, head: head.hash }));
    head.checkpointed = head.events;
  }

  /** Starts a new file with a checkpoint, so that it can be verified without the earlier ones. */
  openFile(ts: string, pruned: readonly FinishedFile[], keptFrom: number): void {
    if (this.head.events > 0) this.checkpoint(ts);
    if (pruned.length === 0) return;
    const files = pruned.map(({ path }) => basename(path));
    this.#addLine({ event: 'audit_pruned', ts, fields: { files, before: keptFrom } });
    this.head.keptFrom = keptFrom;
  }

  /** Ends the current file, which will be renamed to `file`. */
  endFile(ts: string, file: string): void {
    const { head } = this;
    this.#addLine({
      event: 'audit_rotated',
      ts,
      fields: { file: basename(file), next: head.events + 2 },
    });
    // This event contains the same data as a checkpoint.
    head.checkpointed = head.events;
  }

  /** Returns the lines without their newlines. */
  texts(): string[] {
    return this.#text === '' ? [] : this.#text.slice(0, -1).split('\n');
  }

  /** Returns the bytes of the lines and adds them to `head`. */
  take(): Buffer {
    const bytes = Buffer.from(this.#text);
    this.head.bytes = this.#start + bytes.length;
    return bytes;
  }

  #addLine(event: AuditEvent): void {
    const { chain, signer } = this.#options;
    const { line, hash } = chainLine(event, chain ? this.head.hash : null, signer);
    this.#text += `${line}\n`;
    this.head.hash = hash;
    this.head.events += 1;
  }
}
