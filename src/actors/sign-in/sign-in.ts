// Who signs in with a browser? Sign-ins to a provider of models, with PKCE, whose tokens stay here.

export { openSignIns, SignInError, type SignInPorts, type SignIns } from './sign-ins.ts';
