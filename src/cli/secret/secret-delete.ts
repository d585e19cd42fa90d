import { changeSecrets, hasSecretFile } from '../../actors/secrets/secrets.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { checkName } from './check-name.ts';
import { passphraseOf, type SecretOptions, secretFileOf, unknownSecret } from './secret-place.ts';

/** `secret delete NAME`: removes a secret from the encrypted file. */
export async function secretDelete(
  session: Session,
  name: string,
  options: SecretOptions,
): Promise<void> {
  checkName(name);
  const path = secretFileOf(session, options);
  if (!hasSecretFile(path)) throw unknownSecret(name);
  const passphrase = await passphraseOf(session, path);
  await changeSecrets(path, passphrase, (secrets) => {
    if (!secrets.delete(name)) throw unknownSecret(name);
  });
  session.output.line(plainLine(`deleted ${name} from ${path}`));
  session.output.json({ name, path });
}
