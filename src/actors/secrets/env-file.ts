import { statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { refusedSecretName } from '../../machines/secret-name.ts';
import { largestSettingsFile, readRegularFile, UnusableFileError } from '../read-regular-file.ts';
import { SecretsError } from './secrets-error.ts';

/** Variables of an `.env` file, and its problems in sentences without values. */
export interface EnvFile {
  variables: ReadonlyMap<string, string>;
  warnings: string[];
}

/** Reads an `.env` file; warns if other users can read it. Returns nothing if it is missing. Throws a SecretsError. */
export function readEnvFile(path: string): EnvFile {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { variables: new Map(), warnings: [] };
  const found = Object.entries(parseEnv(contentOf(path))).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  const refused = found.filter(([name]) => refusedSecretName(name) !== null);
  const isOpen = (stat.mode & 0o077) !== 0;
  return {
    variables: new Map(found.filter(([name]) => refusedSecretName(name) === null)),
    warnings: [
      ...(isOpen ? [`${path} can be read by other users; chmod 600 it`] : []),
      ...refused.map(
        ([name]) => `${path} sets ${name}, which affects how programs run; it is ignored`,
      ),
    ],
  };
}

function contentOf(path: string): string {
  try {
    return readRegularFile(path, largestSettingsFile).toString('utf8');
  } catch (error) {
    const message =
      error instanceof UnusableFileError
        ? `${path} is not a file of at most ${largestSettingsFile} bytes; fix or remove it`
        : `${path} cannot be read; check its owner and permissions`;
    throw new SecretsError('secrets_unusable', message, { cause: error });
  }
}
