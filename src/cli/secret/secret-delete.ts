import { dirname, join } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import {
  changeSecrets,
  hasSecretFile,
  readEnvFile,
  removeVariable,
} from '../../actors/secrets/secrets.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { checkName } from './check-name.ts';
import { passphraseOf, type SecretOptions, secretFileOf, unknownSecret } from './secret-place.ts';

/** `secret delete NAME`: removes a secret from the encrypted file, or with `--plain` from the `.env` next to it. */
export async function secretDelete(
  session: Session,
  name: string,
  options: SecretOptions,
): Promise<void> {
  checkName(name);
  const path = secretFileOf(session, options);
  const { output } = session;
  const plain = join(dirname(path), '.env');
  if (options.plain === true) {
    if (!(await removeVariable(dirname(path), name))) throw unknownSecret(name);
    output.line(plainLine(`deleted ${name} from ${plain}`));
    output.json({ name, path: plain });
    return;
  }
  const isPlain = readEnvFile(plain).variables.has(name);
  const command = commandLine(`secret delete ${name} --plain --dir ${shellWord(options.dir)}`);
  const remedy = `${name} is in ${plain} in plain text; remove it with: ${command}`;
  if (!hasSecretFile(path)) throw unknownSecret(name, isPlain ? remedy : undefined);
  const passphrase = await passphraseOf(session, path);
  await changeSecrets(path, passphrase, (secrets) => {
    if (!secrets.delete(name)) throw unknownSecret(name, isPlain ? remedy : undefined);
  });
  output.line(plainLine(`deleted ${name} from ${path}`));
  if (isPlain) output.warn(plainLine(remedy));
  output.json({ name, path });
}
