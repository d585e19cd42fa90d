import { commandLine } from '../../command-line.ts';
import { StoreError } from '../store/store-error.ts';

/** Extent of a log beyond its store. */
export interface Lead {
  /** Number of lines that the store does not know; `null` if not counted. */
  events: number | null;
  /** Files that contain these lines, oldest first. */
  files: readonly string[];
}

/** The store is older than its log, or has lost its latest commits; the log is unchanged. */
export class StoreBehindError extends StoreError {
  readonly lead: Lead;

  /** @param store path of the store */
  constructor(store: string, lead: Lead) {
    super(sentence(store, lead));
    this.lead = lead;
  }
}

function sentence(store: string, { events, files }: Lead): string {
  const count = events === null ? 'events' : `${events} event${events === 1 ? '' : 's'}`;
  return `the task store ${store} is older than its audit log: ${files.join(', ')} ${files.length === 1 ? 'holds' : 'hold'} ${count} that it does not know; restore the newest copy of the store, or start once with ${commandLine('run --keep-log')}, which keeps them and ends the tasks they name`;
}
