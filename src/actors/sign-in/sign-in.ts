// Who signs in with a browser? Sign-ins to a provider of models, with PKCE, whose tokens stay here.

export { openSignIns, SignInError, type SignIns } from './sign-ins.ts';
