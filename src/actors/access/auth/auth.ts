export { cardSchemes } from './card-schemes.ts';
export { probeProvider } from './probe-provider.ts';
export { providerAddress } from './provider-address.ts';
