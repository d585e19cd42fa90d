import { hasSecretFile, readSecrets } from '../../actors/secrets/secrets.ts';
import type { Session } from '../session.ts';
import { checkName } from './check-name.ts';
import { passphraseOf, type SecretOptions, secretFileOf, unknownSecret } from './secret-place.ts';

/** `secret get NAME`: prints a secret's value. No other command prints one. */
export async function secretGet(
  session: Session,
  name: string,
  options: SecretOptions,
): Promise<void> {
  checkName(name);
  const path = secretFileOf(session, options);
  if (!hasSecretFile(path)) throw unknownSecret(name);
  const passphrase = await passphraseOf(session, path);
  const value = (await readSecrets(path, passphrase)).get(name);
  if (value === undefined) throw unknownSecret(name);
  session.output.line(value);
  session.output.json({ name, value });
}
