/** Reads the files of a ZIP archive as texts, by path. Throws for a file that is no archive. */
export async function readZip(blob: Blob): Promise<Record<string, string>> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const view = new DataView(bytes.buffer);
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw new Error('this is not a ZIP archive');
  const files: Record<string, string> = {};
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    const size = view.getUint32(at + 20, true);
    const name = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    const path = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name));
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const packed = new Blob([bytes.subarray(start, start + size)]);
    const isPacked = view.getUint16(at + 10, true) === 8;
    const stream = isPacked
      ? packed.stream().pipeThrough(new DecompressionStream('deflate-raw'))
      : packed.stream();
    if (!path.endsWith('/')) files[path] = await new Response(stream).text();
    at += 46 + name + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return files;
}
