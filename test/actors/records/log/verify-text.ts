import type { PublicKey } from '../../../../src/actors/records/log/audit.ts';
import { nodeKeyRing, sha256Hex } from '../../../../src/actors/records/log/node-crypto.ts';
import type { ChainVerdict, VerifyOptions } from '../../../../src/actors/records/log/verdict.ts';
import { verifyChain } from '../../../../src/actors/records/log/verify-chain.ts';

/** Verifies logs that are held in memory, one name after the other, in small pieces. */
export function verifyText(
  contents: readonly string[],
  { keys, ...options }: Omit<VerifyOptions, 'keys'> & { keys?: readonly PublicKey[] } = {},
): Promise<ChainVerdict> {
  const files = contents.map((content, index) => ({
    name: `${index + 1}.ndjson`,
    chunks: inPieces(Buffer.from(content), 64 * 1024),
  }));
  const ring = keys === undefined ? null : nodeKeyRing({ keys });
  return verifyChain(files, sha256Hex, { ...options, keys: ring });
}

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
