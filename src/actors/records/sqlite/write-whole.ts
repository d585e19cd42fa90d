import { writeSync } from 'node:fs';

/** Writes all of the bytes, at a position or at the current one, or throws. */
export function writeWhole(descriptor: number, bytes: Uint8Array, position?: number): void {
  let written = 0;
  while (written < bytes.length) {
    const at = position === undefined ? null : position + written;
    written += writeSync(descriptor, bytes, written, bytes.length - written, at);
  }
}
