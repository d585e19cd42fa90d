import { basename } from 'node:path';
import type { AuditEvent } from '../../ports.ts';
import { checkpoint } from '../log/chain-format.ts';
import { chainLine } from '../log/chain-line.ts';
import type { LineSigner } from '../log/line-signer.ts';
import type { FinishedFile } from '../log/log-files.ts';
import type { AuditHead } from './audit-head.ts';

/** Events between two checkpoints (docs/contract/audit.md). */
const checkpointEvery = 1_000;

/** Lines made ready for the log, and where it stands with them. */
export interface NextLinesOptions {
  /** False leaves `prev_hash` out. */
  chain: boolean;
  signer: LineSigner | null;
}

/** Chains events to the end of a log, with the checkpoints that are due between them. */
export class NextLines {
  /** Where the log stands with these lines. */
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

  /** States where the log stands. */
  checkpoint(ts: string): void {
    const { head } = this;
    this.#addLine(checkpoint(ts, { count: head.events, head: head.hash }));
    head.checkpointed = head.events;
  }

  /** Begins a further file: the checkpoint lets it be verified without those before it. */
  openFile(ts: string, pruned: readonly FinishedFile[], keptFrom: number): void {
    if (this.head.events > 0) this.checkpoint(ts);
    if (pruned.length === 0) return;
    const files = pruned.map(({ path }) => basename(path));
    this.#addLine({ event: 'audit_pruned', ts, fields: { files, before: keptFrom } });
    this.head.keptFrom = keptFrom;
  }

  /** Ends the current file, which is to be named `file`. */
  endFile(ts: string, file: string): void {
    const { head } = this;
    this.#addLine({
      event: 'audit_rotated',
      ts,
      fields: { file: basename(file), next: head.events + 2 },
    });
    // The line says as much as a checkpoint does.
    head.checkpointed = head.events;
  }

  /** The lines without their newlines. */
  texts(): string[] {
    return this.#text === '' ? [] : this.#text.slice(0, -1).split('\n');
  }

  /** The bytes of the lines; `head` counts them from here on. */
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
