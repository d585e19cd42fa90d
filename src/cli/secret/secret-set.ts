import { dirname } from 'node:path';
import {
  changeSecrets,
  hasSecretFile,
  removeVariable,
  VariableError,
  writeEnvironment,
} from '../../actors/secrets/secrets.ts';
import { askHidden } from '../ask-hidden.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { checkName } from './check-name.ts';
import { passphraseOf, type SecretOptions, secretFileOf } from './secret-place.ts';

/** Maximum length of a value in characters, about ten times the size of a key with its certificates. */
const longestValue = 65_536;

/**
 * `secret set NAME`: saves a value from stdin or a hidden prompt to the encrypted file, and removes its plain-text copy
 * from the `.env`. With `--plain`, saves it to the `.env` instead.
 */
export async function secretSet(
  session: Session,
  name: string,
  options: SecretOptions,
): Promise<void> {
  checkName(name);
  const path = secretFileOf(session, options);
  if (options.plain === true) return setPlain(session, name, path);
  const { output } = session;
  const isFirst = !hasSecretFile(path);
  const passphrase = await passphraseOf(session, path);
  const value = await checkedValueOf(session, name);
  await changeSecrets(path, passphrase, (secrets) => secrets.set(name, value));
  output.line(plainLine(`kept ${name} in ${path}`));
  const isRemoved = await removeVariable(dirname(path), name);
  if (isRemoved) {
    output.line(
      plainLine(`removed ${name} from ${dirname(path)}/.env, where it was in plain text`),
    );
  }
  if (isFirst) {
    output.note(
      'the agent needs this passphrase at each start: in SERVICE_PASSPHRASE, by --passphrase-stdin or at the terminal',
    );
  }
  output.note('an agent that runs has it from its next start on');
  output.json({ name, path });
}

/** Saves a value to the `.env` next to the encrypted file, as `init` does without a passphrase. */
async function setPlain(session: Session, name: string, path: string): Promise<void> {
  const { output } = session;
  const value = await checkedValueOf(session, name);
  const file = await writeEnvironment(dirname(path), { [name]: value }).catch((error: unknown) => {
    if (!(error instanceof VariableError)) throw error;
    throw new CliError(error.message, { code: 'usage', exitCode: exitCodes.usage, cause: error });
  });
  output.line(plainLine(`stored ${name} in ${file}, in plain text`));
  if (hasSecretFile(path)) {
    output.note(plainLine(`if ${path} has ${name} too, secrets.providers sets the precedence`));
  }
  output.note('an agent that runs has it from its next start on');
  output.json({ name, path: file });
}

async function checkedValueOf(session: Session, name: string): Promise<string> {
  const value = await valueOf(session, name);
  if (value !== '' && !value.includes('\0')) return value;
  throw unusableValue('is empty or holds a null character');
}

async function valueOf(session: Session, name: string): Promise<string> {
  const typed = session.stdin.isTTY === true ? await askHidden(session, `Value of ${name}`) : null;
  if (typed !== null) return typed;
  try {
    const text = await session.input.rest(longestValue);
    // The trailing line break of piped input is not part of the value.
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
