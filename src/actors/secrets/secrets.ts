// Which secrets there are: the encrypted file of an agent, the `.env` beside it, and the order they are looked for in.

export { openSecretEnvironment, type SecretEnvironment } from './secret-environment.ts';
export { changeSecrets, hasSecretFile, readSecrets } from './secret-file.ts';
export { refusedSecretName } from './secret-name.ts';
export { SecretsError } from './secrets-error.ts';
