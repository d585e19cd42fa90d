import { hasSecretFile, readSecrets } from '../../actors/secrets/secrets.ts';
import type { Session } from '../session.ts';
import { passphraseOf, type SecretOptions, secretFileOf } from './secret-place.ts';

/** `secret list`: prints the names of the secrets, in order, and no value. */
export async function secretList(session: Session, options: SecretOptions): Promise<void> {
  const names = await namesIn(session, secretFileOf(session, options));
  for (const name of names) session.output.line(name);
  if (names.length === 0) session.output.note('there are no secrets');
  session.output.json({ secrets: names });
}

async function namesIn(session: Session, path: string): Promise<string[]> {
  if (!hasSecretFile(path)) return [];
  const secrets = await readSecrets(path, await passphraseOf(session, path));
  return [...secrets.keys()].toSorted();
}
