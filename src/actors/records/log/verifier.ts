// Log verification for browsers: the rules of `audit verify`, with WebCrypto hashes and signatures.

export { GENESIS } from './chain-format.ts';
export { readPublicKeys } from './public-keys.ts';
export type { ChainVerdict, LineBreak } from './verdict.ts';
export { verifyChain } from './verify-chain.ts';
export { webKeyRing, webSha256Hex } from './web-crypto.ts';
