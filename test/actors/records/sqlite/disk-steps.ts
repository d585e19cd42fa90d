import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';

/** Something that is about to be asked of the disk. */
export interface DiskStep {
  /** From 1. */
  number: number;
  /** The function of the file system, or the statement of the database. */
  name: string;
  /** Writes the first half of what was to be written; nothing unless this is a write. */
  writeHalf: () => void;
}

type Any = (...args: any[]) => unknown;

const fileSteps = [
  'openSync',
  'writeSync',
  'ftruncateSync',
  'fdatasync',
  'fdatasyncSync',
  'fsyncSync',
  'renameSync',
  'chmodSync',
  'fchmodSync',
  'rmSync',
] as const;

type Tell = (name: string, writeHalf?: () => void) => void;

/** The replacements of the disk functions while a listener records its steps. */
interface Hearing {
  listeners: Set<Tell>;
  putBack: () => void;
}

let hearing: Hearing | null = null;

/**
 * Receives every step that changes the log or the store before it is taken, but not of those that a
 * listener takes itself; a step whose listener throws is not taken, and fails with what was thrown.
 * Returns what ends it.
 */
export function hearDisk(onStep: (step: DiskStep) => void): () => void {
  hearing ??= beginHearing();
  const { listeners, putBack } = hearing;
  let number = 0;
  const tell: Tell = (name, writeHalf = () => undefined) => {
    number += 1;
    onStep({ number, name, writeHalf });
  };
  listeners.add(tell);
  const end = (): void => {
    if (!listeners.delete(tell) || listeners.size > 0) return;
    putBack();
    hearing = null;
  };
  return end;
}

/**
 * Replaces every function. A function that other code has stored stays replaced:
 * what node loads at the first `cpSync` keeps the functions it finds. So it must be the genuine
 * function once nobody listens any more.
 */
function beginHearing(): Hearing {
  const listeners = new Set<Tell>();
  const undo: (() => void)[] = [];
  let isTelling = false;
  const step: Tell = (name, writeHalf) => {
    if (isTelling) return;
    isTelling = true;
    try {
      for (const tell of listeners) tell(name, writeHalf);
    } finally {
      isTelling = false;
    }
  };
  const replace = (owner: any, name: string, wrap: (genuine: Any) => Any): void => {
    const genuine = owner[name] as Any;
    owner[name] = wrap(genuine);
    undo.push(() => {
      owner[name] = genuine;
    });
  };
  for (const name of fileSteps) {
    replace(fs, name, (genuine) => (...args) => {
      if (name === 'fdatasync') return laterStep(genuine, args, () => step(name));
      step(name, () => name === 'writeSync' && half(genuine, args));
      return genuine(...args);
    });
  }
  replace(
    DatabaseSync.prototype,
    'exec',
    (genuine) =>
      function (this: unknown, sql: string) {
        step(sql.trim().split('\n')[0] ?? '');
        return genuine.call(this, sql);
      },
  );
  replace(
    StatementSync.prototype,
    'run',
    (genuine) =>
      function (this: unknown, ...values: unknown[]) {
        step('run');
        return genuine.apply(this, values);
      },
  );
  syncBuiltinESMExports();
  const putBack = (): void => {
    for (const put of undo) put();
    syncBuiltinESMExports();
  };
  return { listeners, putBack };
}

function half(
  write: Any,
  [descriptor, bytes, offset = 0, length = bytes.length, position = null]: any[],
): void {
  write(descriptor, bytes, offset, length >> 1, position);
}

function laterStep(genuine: Any, args: any[], step: () => void): unknown {
  const done = args.at(-1) as (error: unknown) => void;
  try {
    step();
  } catch (error) {
    setImmediate(() => done(error));
    return undefined;
  }
  return genuine(...args);
}
