// Model providers: base URLs, API-key variables, and the single factory that loads their SDKs.

export { baseUrlFrom } from './base-url.ts';
export { boundedText } from './bounded-text.ts';
export { guardFetch, PageError, TooLongError } from './guard-fetch.ts';
export { loadProvider, type Provider } from './load-provider.ts';
export { StreamPace } from './pace-stream.ts';
export { type ModelProbe, type ModelQuestion, probeModel } from './probe-model.ts';
export { isProviderName, type ProviderName, providerAddress } from './provider-address.ts';
export { providerKey } from './provider-key.ts';
export { isUsualModel } from './usual-model.ts';
