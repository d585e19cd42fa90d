import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';
import type { AuditHead } from '../store/audit-head.ts';

const announcement = z.object({
  first: z.number(),
  from: z.number(),
  hash: z.string(),
  to: z.number(),
  events: z.number(),
});

/** Lines that are about to be written: where in which file, after which line, and how many the log has with them. */
type Announcement = z.infer<typeof announcement>;

/** Bytes of the announcement with its newline; what was told follows. */
const width = 256;

/** Bytes of what was told, with its newline. */
const toldWidth = 32;

/**
 * A small file beside the log that says what no line can: which lines are being written and are not
 * committed yet, and how many lines are. A line beyond what the store knows is an uncommitted one when
 * this file says so; otherwise the store is older than its log. It is never waited for: what a killed
 * process wrote is there, and after a power cut a stale note makes nothing look uncommitted that is not.
 */
export class HeadNote {
  readonly #path: string;
  readonly #buffer = Buffer.alloc(width);
  #descriptor: number | null = null;

  /** @param log the path of the current file of the log */
  constructor(log: string) {
    this.#path = `${log}.head`;
  }

  /**
   * Returns where in a file lines begin that were written and never committed; `null` when the note knows of none.
   *
   * @param size the length of the file, which may hold the first part of the lines alone
   */
  uncommittedFrom({ first }: Pick<AuditHead, 'first'>, size: number): Announcement | null {
    const noted = this.#read();
    if (noted === null || noted.told >= noted.announced.events) return null;
    const { announced } = noted;
    return announced.first === first && size <= announced.to ? announced : null;
  }

  /** Notes the lines that are about to be written. Throws when the disk does not take it. */
  announce({ first, bytes: from, hash }: AuditHead, { bytes: to, events }: AuditHead): void {
    this.#write({ first, from, hash, to, events } satisfies Announcement, width, 0);
  }

  /** Notes that all lines up to a head are committed; a note that fails fails the next announcement too. */
  tell({ events }: AuditHead): void {
    try {
      this.#write(events, toldWidth, width);
    } catch {
      // The lines are committed whatever is noted of them.
    }
  }

  /** Closes the file. */
  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #write(value: Announcement | number, length: number, position: number): void {
    this.#descriptor ??= openSync(this.#path, constants.O_RDWR | constants.O_CREAT, 0o600);
    const text = JSON.stringify(value).padEnd(length - 1);
    this.#buffer.write(`${text}\n`, 'latin1');
    writeSync(this.#descriptor, this.#buffer, 0, length, position);
  }

  #read(): { announced: Announcement; told: number } | null {
    try {
      const [announced = '', told = ''] = readFileSync(this.#path, 'latin1').split('\n');
      return {
        announced: announcement.parse(JSON.parse(announced)),
        told: z.number().parse(JSON.parse(told)),
      };
    } catch {
      return null;
    }
  }
}
