export { probeProvider } from './probe-provider.ts';
