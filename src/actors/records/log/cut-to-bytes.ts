const encoder = new TextEncoder();

/** A text that may be shown, and what is known of the one it comes from. */
export interface ShownText {
  text: string;
  /** True when something of the original is left out already. */
  isPart: boolean;
  /** Bytes of the original; asked for when the text is cut. */
  originalSize: () => number;
}

/**
 * Makes a text well formed and cuts it to a number of UTF-8 bytes, between two code points. What was cut ends in
 * ` [cut: N bytes in all]`, which counts as well; a maximum below its length leaves the marker alone.
 */
export function cutToBytes({ text, isPart, originalSize }: ShownText, maximum: number): string {
  const wellFormed = text.toWellFormed();
  if (!isPart && Buffer.byteLength(wellFormed) <= maximum) return wellFormed;
  const marker = ` [cut: ${originalSize()} bytes in all]`;
  const room = new Uint8Array(Math.max(0, maximum - marker.length));
  const { read } = encoder.encodeInto(wellFormed, room);
  return wellFormed.slice(0, read) + marker;
}
