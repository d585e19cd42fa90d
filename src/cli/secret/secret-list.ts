import { dirname, join } from 'node:path';
import { hasSecretFile, readEnvFile, readSecrets } from '../../actors/secrets/secrets.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { passphraseOf, type SecretOptions, secretFileOf } from './secret-place.ts';

/** `secret list`: prints the names of the secrets in order, without values. */
export async function secretList(session: Session, options: SecretOptions): Promise<void> {
  const path = secretFileOf(session, options);
  const names = await namesIn(session, path);
  const file = join(dirname(path), '.env');
  const plain = [...readEnvFile(file).variables.keys()].toSorted();
  for (const name of names) session.output.line(name);
  if (names.length + plain.length === 0) session.output.note('there are no secrets');
  if (plain.length > 0)
    session.output.note(plainLine(`in plain text in ${file}: ${plain.join(', ')}`));
  session.output.json({ secrets: names });
}

async function namesIn(session: Session, path: string): Promise<string[]> {
  if (!hasSecretFile(path)) return [];
  const secrets = await readSecrets(path, await passphraseOf(session, path));
  return [...secrets.keys()].toSorted();
}
