/**
 * Why secrets are unavailable: no passphrase was given, the passphrase does not open the file, or the file is unusable.
 */
type SecretsFault = 'passphrase_missing' | 'secrets_locked' | 'secrets_unusable';

/** The secrets of an agent cannot be read or saved; the message names the file and reveals none of its content. */
export class SecretsError extends Error {
  readonly code: SecretsFault;

  constructor(code: SecretsFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
