/** Returns true for canonical base64 (RFC 4648 section 4): padded and without stray bits. */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const end = text.length - padding;
  for (let index = 0; index < end; index += 1) if (digitOf(text, index) < 0) return false;
  if (padding === 0) return true;
  const strayBits = padding === 2 ? 0b1111 : 0b11;
  return (digitOf(text, end - 1) & strayBits) === 0;
}

/** Returns the six bits of a character; -1 for one outside the alphabet. */
function digitOf(text: string, index: number): number {
  const code = text.charCodeAt(index);
  if (code >= 0x41 && code <= 0x5a) return code - 0x41;
  if (code >= 0x61 && code <= 0x7a) return code - 0x47;
  if (code >= 0x30 && code <= 0x39) return code + 4;
  if (code === 0x2b) return 62;
  return code === 0x2f ? 63 : -1;
}
