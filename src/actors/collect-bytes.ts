type Chunk = Uint8Array<ArrayBuffer>;

/**
 * Collects the bytes of a body, at most `longest`. Rejects with the error of `tooLong` for a longer body, whose rest is
 * not read, and with connection errors.
 */
export async function collectBytes(
  body: AsyncIterable<Uint8Array> | null,
  longest: number,
  tooLong: () => Error,
): Promise<Chunk> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    // Leaving the loop cancels the rest of the body.
    if (size > longest) throw tooLong();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Decodes bytes as UTF-8; `null` for invalid UTF-8. */
export function strictText(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
