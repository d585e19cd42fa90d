import { closeSync, openSync, statSync, writeSync } from 'node:fs';

const page = 4_096;

/** Overwrites pages of a database, counted from 1, as a failing disk might. */
export function overwritePages(path: string, first: number, count: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(page * count, 0xa5), 0, page * count, (first - 1) * page);
  closeSync(file);
}

/** How many pages a database has. */
export function pagesOf(path: string): number {
  return statSync(path).size / page;
}
