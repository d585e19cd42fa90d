/** Why secrets cannot be had: nobody gave a passphrase, it does not open the file, or the file itself cannot be used. */
type SecretsFault = 'passphrase_missing' | 'secrets_locked' | 'secrets_unusable';

/** The secrets of an agent cannot be read or kept; the message names the file and shows nothing of what is in it. */
export class SecretsError extends Error {
  readonly code: SecretsFault;

  constructor(code: SecretsFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
