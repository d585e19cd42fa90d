// What a browser needs to verify a log by itself: the rules of `audit verify`, with hashes and signatures of WebCrypto.

export { GENESIS } from './chain-format.ts';
export { readPublicKeys } from './public-keys.ts';
export type { ChainVerdict, LineBreak } from './verdict.ts';
export { verifyChain } from './verify-chain.ts';
export { webKeyRing, webSha256Hex } from './web-crypto.ts';
