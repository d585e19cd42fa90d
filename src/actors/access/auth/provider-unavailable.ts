/** A provider is unavailable, so a credential cannot be verified. The message contains nothing of the credential. */
export class ProviderUnavailableError extends Error {
  readonly code = 'provider_unavailable';
}
