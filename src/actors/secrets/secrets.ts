// Secrets: the encrypted file of an agent, the `.env` next to it, and their precedence.

export { refusedSecretName } from '../../machines/secret-name.ts';
export { readEnvFile } from './env-file.ts';
export { openSecretEnvironment, type SecretEnvironment } from './secret-environment.ts';
export { changeSecrets, hasSecretFile, readSecrets } from './secret-file.ts';
export { SecretsError } from './secrets-error.ts';
export { type WithheldVariables, withholdVariables } from './withheld-variables.ts';
export { removeVariable, VariableError, writeEnvironment } from './write-environment.ts';
