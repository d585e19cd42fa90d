export { createCachingEmbedder } from './caching-embedder.ts';
export { checkAlignment } from './check-alignment.ts';
export { createEmbedder } from './create-embedder.ts';
export { type Embedder, EmbedderError } from './embedder.ts';
export { embedderAddress } from './embedder-address.ts';
export {
  type AlignmentQuestion,
  createIntentScorer,
  type IntentScorer,
} from './intent-scorer.ts';
