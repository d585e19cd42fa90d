// Browser sign-in to a model provider with PKCE; tokens stay in this process.

export { openSignIns, SignInError, type SignInPorts, type SignIns } from './sign-ins.ts';
