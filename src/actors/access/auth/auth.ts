export { cardSchemes } from './card-schemes.ts';
export { probeIssuer, probeProvider } from './probe-provider.ts';
export { providerAddress } from './provider-address.ts';
