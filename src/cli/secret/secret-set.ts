import { changeSecrets } from '../../actors/secrets/secrets.ts';
import { askHidden } from '../ask-hidden.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { checkName } from './check-name.ts';
import { passphraseOf, type SecretOptions, secretFileOf } from './secret-place.ts';

/** Characters of a value; a key with its certificates takes a tenth of it. */
const longestValue = 65_536;

/** `secret set NAME`: keeps a value from stdin, or one that is typed unseen, in the encrypted file. */
export async function secretSet(
  session: Session,
  name: string,
  options: SecretOptions,
): Promise<void> {
  checkName(name);
  const path = secretFileOf(session, options);
  const passphrase = await passphraseOf(session, path);
  const value = await valueOf(session, name);
  if (value === '' || value.includes('\0'))
    throw unusableValue('is empty or holds a null character');
  await changeSecrets(path, passphrase, (secrets) => secrets.set(name, value));
  const { output } = session;
  output.line(plainLine(`kept ${name} in ${path}`));
  output.note('an agent that runs has it from its next start on');
  output.json({ name, path });
}

async function valueOf(session: Session, name: string): Promise<string> {
  const typed = session.stdin.isTTY === true ? await askHidden(session, `Value of ${name}`) : null;
  if (typed !== null) return typed;
  try {
    const text = await session.input.rest(longestValue);
    // What ends the line that was piped in is no part of a key.
    return text.replace(/\r?\n$/, '');
  } catch (error) {
    if (error instanceof RangeError)
      throw unusableValue(`has more than ${longestValue} characters`);
    throw error;
  }
}

function unusableValue(what: string): CliError {
  return new CliError(`the value ${what}`, {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'give it on stdin, or at the prompt',
  });
}
