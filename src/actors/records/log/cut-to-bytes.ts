const encoder = new TextEncoder();

/** A string to truncate, and its relation to the original. */
export interface ShownText {
  text: string;
  /** True if part of the original has already been omitted. */
  isPart: boolean;
  /** Returns the size of the original in bytes; called only if the text is truncated. */
  originalSize: () => number;
}

/**
 * Makes a string well-formed and truncates it to a number of UTF-8 bytes, between code points. The marker ` [cut: N bytes
 * in all]` is appended and counts as well; if the maximum is shorter than the marker, only the marker is returned.
 */
export function cutToBytes({ text, isPart, originalSize }: ShownText, maximum: number): string {
  const wellFormed = text.toWellFormed();
  if (!isPart && Buffer.byteLength(wellFormed) <= maximum) return wellFormed;
  const marker = ` [cut: ${originalSize()} bytes in all]`;
  const room = new Uint8Array(Math.max(0, maximum - marker.length));
  const { read } = encoder.encodeInto(wellFormed, room);
  return wellFormed.slice(0, read) + marker;
}
