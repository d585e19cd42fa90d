export { probeProvider } from './probe-provider.ts';
export { providerAddress } from './provider-address.ts';
