import {
  citedHashes,
  type KeyRing,
  linesWithHash,
  type PublicKey,
  publicKeySet,
  readPublicKeys,
  verifyReceipts,
  webKeyRing,
  webSha256Hex,
} from '../../../../actors/records/log/verifier.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../../machines/json.ts';

/** Receipts and the files that can prove them. */
export interface Evidence {
  /** Compact JWS texts. */
  receipts: readonly string[];
  /** Public keys in JWKS format. */
  keys: readonly unknown[];
  /** Lines of a log; `null` if there are none to compare with. */
  log: readonly Blob[] | null;
}

/** The result of verifying one receipt. */
export type CheckedReceipt =
  | { ok: true; claims: JsonObject; kid: string; isInLog: boolean }
  | { ok: false; reason: string };

/** Verifies receipts with the rules of `receipt verify`. Throws for invalid keys. */
export async function checkReceipts({ receipts, keys, log }: Evidence): Promise<CheckedReceipt[]> {
  const ring = await ringOf(readPublicKeys(JSON.stringify({ keys })).keys);
  const verdicts = await verifyReceipts(receipts, {
    keys: ring,
    findLines: log === null ? null : (hashes) => findIn(log, hashes),
  });
  return verdicts.map((verdict, index) =>
    verdict.ok ? { ...verdict, kid: kidOf(receipts[index] ?? ''), isInLog: log !== null } : verdict,
  );
}

/** Reads the keys of JWKS texts. Throws for invalid keys, and for different keys with one name. */
export function keysIn(texts: readonly string[]): readonly PublicKey[] {
  return publicKeySet(texts.flatMap((text) => readPublicKeys(text).keys)).keys;
}

/** Returns the name of the key that a receipt claims to be signed with; empty for none. */
export function kidOf(receipt: string): string {
  const kid = partOf(receipt, 0)['kid'];
  return typeof kid === 'string' ? kid : '';
}

/** Returns the hashes of the lines that a receipt claims to be carried by. */
export function citedBy(receipt: string): Set<string> {
  return new Set(citedHashes(partOf(receipt, 1)));
}

/** Returns the JSON of a part of a JWS; an empty object for any other text. */
function partOf(receipt: string, index: number): JsonObject {
  try {
    const base64 = receipt.split('.')[index]?.replaceAll('-', '+').replaceAll('_', '/') ?? '';
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const parsed = parseJson(new TextDecoder().decode(bytes));
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

async function ringOf(keys: readonly PublicKey[]): Promise<KeyRing> {
  try {
    return await webKeyRing({ keys });
  } catch (cause) {
    throw new Error('This browser cannot verify Ed25519 signatures.', { cause });
  }
}

async function findIn(
  log: readonly Blob[],
  hashes: ReadonlySet<string>,
): Promise<Map<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  for (const part of log) {
    for (const [sha256, line] of await linesWithHash(chunksOf(part), hashes, webSha256Hex)) {
      found.set(sha256, line);
    }
  }
  return found;
}

/** Not every browser supports async iteration of streams. */
async function* chunksOf(blob: Blob): AsyncGenerator<Uint8Array> {
  const reader = blob.stream().getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}
