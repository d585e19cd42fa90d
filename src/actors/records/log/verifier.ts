// Verification of logs and receipts for browsers: the rules of `audit verify` and `receipt verify`, with WebCrypto hashes and
// signatures.

export { GENESIS } from './chain-format.ts';
export type { KeyRing } from './key-ring.ts';
export { linesWithHash } from './lines-with-hash.ts';
export { type PublicKey, publicKeySet, readPublicKeys } from './public-keys.ts';
export { type HashedLine, receiptClaims } from './receipt-claims.ts';
export type { ChainVerdict, LineBreak } from './verdict.ts';
export { verifyChain } from './verify-chain.ts';
export { citedHashes, verifyReceipts } from './verify-receipt.ts';
export { webKeyRing, webSha256Hex } from './web-crypto.ts';
