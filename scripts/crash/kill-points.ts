// Is loaded into a daemon before its own code, and ends it at once at the point that the file named by HOLDPOINT_KILL_FILE
// names: no handler runs, nothing is flushed.
import fs from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import type pg from 'pg';

const order = process.env['HOLDPOINT_KILL_FILE'] ?? '';

/** Tells whether a point is the one at which the process is to end. */
function isOrdered(point: string): boolean {
  return fs.existsSync(order) && fs.readFileSync(order, 'utf8') === point;
}

/** Ends the process if this is where it is to end. */
function pass(point: string): void {
  if (!isOrdered(point)) return;
  fs.rmSync(order, { force: true });
  process.kill(process.pid, 'SIGKILL');
}

// Each is called with a `this` of its own.
// oxlint-disable-next-line typescript/unbound-method
const { exec } = DatabaseSync.prototype;
DatabaseSync.prototype.exec = function (this: DatabaseSync, sql: string) {
  if (sql === 'COMMIT') pass('before-commit');
  exec.call(this, sql);
  if (sql === 'COMMIT') pass('after-commit');
};

const { writeSync, fdatasync } = fs;
fs.writeSync = ((descriptor: number, bytes: Uint8Array, ...rest: (number | undefined)[]) => {
  const write = writeSync as (...args: unknown[]) => number;
  const [offset = 0, length = bytes.length - offset, position] = rest;
  // Lines are appended; what has a place of its own is no line.
  if (position === undefined && length > 100 && isOrdered('half-line')) {
    write(descriptor, bytes, offset, length >> 1);
    pass('half-line');
  }
  return write(descriptor, bytes, ...rest);
}) as typeof fs.writeSync;
fs.fdatasync = ((descriptor: number, done: (error: Error | null) => void) => {
  pass('before-sync');
  fdatasync(descriptor, done);
}) as typeof fs.fdatasync;
syncBuiltinESMExports();

const { Client } = createRequire(import.meta.url)('pg') as typeof pg;
// oxlint-disable-next-line typescript/unbound-method
const query = Client.prototype.query as (...args: unknown[]) => unknown;
Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const isCommit = args[0] === 'COMMIT';
  if (isCommit) pass('before-commit');
  const answered = query.apply(this, args);
  // Sent, and nobody is there to hear how it ended.
  if (isCommit) setImmediate(() => pass('in-commit'));
  if (isCommit && answered instanceof Promise) {
    const afterwards = (): void => pass('after-commit');
    answered.then(afterwards, () => undefined);
  }
  return answered;
} as typeof Client.prototype.query;
