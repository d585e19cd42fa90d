/** A provider cannot be asked, so nothing can be said of a credential; the message holds nothing of it. */
export class ProviderUnavailableError extends Error {
  readonly code = 'provider_unavailable';
}
