import { writeSync } from 'node:fs';

/** Appends all of the bytes or throws. */
export function writeWhole(descriptor: number, bytes: Uint8Array): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(descriptor, bytes, written, bytes.length - written);
  }
}
