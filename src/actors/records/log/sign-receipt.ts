import canonicalize from 'canonicalize';
import type { JsonObject } from '../../../machines/json.ts';
import type { LineSigner } from './line-signer.ts';
import { receiptType } from './verify-receipt.ts';

/** Signs claims as a compact JWS (EdDSA), header and payload in RFC 8785 form. */
export function signReceipt(claims: JsonObject, signer: LineSigner): string {
  const header = { alg: 'EdDSA', kid: signer.kid, typ: receiptType };
  const signed = `${encoded(header)}.${encoded(claims)}`;
  const signature = Buffer.from(signer.sign(Buffer.from(signed)), 'base64');
  return `${signed}.${signature.toString('base64url')}`;
}

function encoded(object: JsonObject): string {
  return Buffer.from(canonicalize(object) as string).toString('base64url');
}
