import canonicalize from 'canonicalize';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import type { KeyRing } from './key-ring.ts';
import { verifySignature } from './line-signature.ts';
import { type HashedLine, receiptClaims, receiptVersion } from './receipt-claims.ts';

/** Media type of a receipt in the header of its JWS. */
export const receiptType = 'holdpoint-receipt+jws';

/** A verified receipt, or the reason why it proves nothing. */
export type ReceiptVerdict = { ok: true; claims: JsonObject } | { ok: false; reason: string };

/** 86 characters encode 64 bytes if the last one carries two bits. */
const encodedSignature = /^[A-Za-z0-9_-]{85}[AQgw]$/;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Resolves with the valid lines of a log that have these hashes. */
export type FindLines = (hashes: ReadonlySet<string>) => Promise<ReadonlyMap<string, JsonObject>>;

/** Verifies receipts; with `findLines` also that a log has their lines and that these state the same. */
export async function verifyReceipts(
  receipts: readonly string[],
  { keys, findLines }: { keys: KeyRing; findLines: FindLines | null },
): Promise<ReceiptVerdict[]> {
  const verdicts = await Promise.all(receipts.map((receipt) => verifyReceipt(receipt, keys)));
  if (findLines === null) return verdicts;
  const valid = verdicts.flatMap((verdict) => (verdict.ok ? [verdict.claims] : []));
  const found = await findLines(new Set(valid.flatMap(citedHashes)));
  return Promise.all(
    verdicts.map(async (verdict) => {
      const reason = verdict.ok ? await verifyCited(verdict.claims, found, keys) : null;
      return reason === null ? verdict : refused(reason);
    }),
  );
}

/** Verifies the form and the signature of a receipt. */
export async function verifyReceipt(receipt: string, keys: KeyRing): Promise<ReceiptVerdict> {
  const parts = receipt.split('.');
  const [header, claims] = parts.slice(0, 2).map(decoded);
  if (parts.length !== 3 || !isJsonObject(header) || !isJsonObject(claims)) {
    return refused('it is not a receipt: a compact JWS with a JSON header and JSON claims');
  }
  const { alg, kid, typ } = header;
  if (alg !== 'EdDSA' || typ !== receiptType || typeof kid !== 'string') {
    return refused(`its header is not that of a receipt (alg EdDSA, typ ${receiptType}, kid)`);
  }
  if (!keys.has(kid)) return refused(`kid ${JSON.stringify(kid)} is not one of the keys`);
  const [first = '', second = '', third = ''] = parts;
  const bytes = encoder.encode(`${first}.${second}`);
  const isSigned =
    encodedSignature.test(third) &&
    (await keys.verify(kid, bytes, bytesOf(third)).catch(() => false));
  if (!isSigned) return refused('the signature does not match: a member was changed');
  if (claims['version'] !== receiptVersion) {
    return refused(`its version is not ${receiptVersion}; a newer release can read it`);
  }
  return { ok: true, claims };
}

/** Lists the hashes of the lines that a receipt cites. */
export function citedHashes({ lines }: JsonObject): string[] {
  const cited = Array.isArray(lines) ? lines : [];
  return cited.map((line) => {
    const sha256 = isJsonObject(line) ? line['sha256'] : '';
    return typeof sha256 === 'string' ? sha256 : '';
  });
}

/**
 * Returns why the cited lines do not carry a receipt; `null` if they do. `found` are the lines of a log with the cited
 * hashes, in any order.
 */
export async function verifyCited(
  claims: JsonObject,
  found: ReadonlyMap<string, JsonObject>,
  keys: KeyRing,
): Promise<string | null> {
  const lines: HashedLine[] = [];
  for (const sha256 of citedHashes(claims)) {
    const line = found.get(sha256);
    if (line === undefined) return `the log has no line with the hash ${sha256}`;
    const reason = await verifySignature(line, { keys, requireSigned: true });
    if (reason !== null) return `the line with the hash ${sha256}: ${reason}`;
    lines.push({ line, sha256 });
  }
  const { issued_at: _, ...stated } = claims;
  const { call_id: call } = stated;
  const carried = receiptClaims(lines, typeof call === 'string' ? call : '');
  const isCarried = typeof carried !== 'string' && canonicalize(carried) === canonicalize(stated);
  return isCarried ? null : 'it states something else than its lines of the log';
}

function refused(reason: string): ReceiptVerdict {
  return { ok: false, reason };
}

/** Returns the JSON of a part; `undefined` for any other text. */
function decoded(part: string): JsonValue | undefined {
  try {
    return JSON.parse(decoder.decode(bytesOf(part))) as JsonValue;
  } catch {
    return undefined;
  }
}

/** Throws for a string that is not base64url. */
function bytesOf(base64url: string): Uint8Array {
  const base64 = base64url.replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
