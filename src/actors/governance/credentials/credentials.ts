export { checkCredentials } from './check-credentials.ts';
export { type Credential, CredentialError } from './credential.ts';
export { credentialAddresses } from './credential-addresses.ts';
export type { CredentialEntry } from './credential-entry.ts';
export {
  type CredentialIssuer,
  createCredentialIssuer,
  type IssuerPorts,
} from './credential-issuer.ts';
export { CredentialVault } from './credential-vault.ts';
export { redactedCredential, redactSecrets } from './redact-secrets.ts';
