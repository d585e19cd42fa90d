import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { publicKey } from '../../actors/records/records.ts';
import { writeNewFile } from '../../actors/write-new-file.ts';
import { codeOf } from '../../machines/error-code.ts';
import { messageOf } from '../../machines/message-of.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { plainLine } from '../plain-text.ts';
import type { Session } from '../session.ts';

export interface KeyGenerateOptions {
  kid: string;
  out?: string;
}

/**
 * `key generate`: creates an Ed25519 key pair for the audit log. Prints the private key to stdout as a line of an
 * environment file. With --out, writes the private key only to that file and prints the public key as a JWKS
 * (docs/contract/command.md).
 */
export async function keyGenerate(
  { output }: Session,
  { kid, out }: KeyGenerateOptions,
): Promise<void> {
  if (kid.trim() === '') throw nameless();
  const pair = generateKeyPairSync('ed25519');
  const { x } = pair.publicKey.export({ format: 'jwk' });
  const keys = [publicKey(kid, x ?? '')];
  if (out !== undefined) {
    await writeNew(out, pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString());
    output.note(
      plainLine(
        `the private key is in ${out}; give its text to the agent as SERVICE_AUDIT_SIGNING_KEY`,
      ),
    );
    output.line(JSON.stringify({ keys }, null, 2));
    output.json({ kid, path: out, keys });
    return;
  }
  const secret = base64(pair.privateKey);
  output.note('this is shown once and not stored; anyone who has it can sign the log');
  output.line(`SERVICE_AUDIT_SIGNING_KEY=${secret}`);
  output.json({ kid, private_key: secret, keys });
}

function base64(key: KeyObject): string {
  return key.export({ format: 'der', type: 'pkcs8' }).toString('base64');
}

/**
 * Creates the file with its final permissions, so it is never readable by others in between. Never overwrites a file.
 */
async function writeNew(path: string, text: string): Promise<void> {
  try {
    await writeNewFile(path, text, 0o600);
  } catch (error) {
    const isThere = codeOf(error) === 'EEXIST';
    const reason = messageOf(error);
    const what = isThere ? `${path} is already there` : `${path} cannot be written: ${reason}`;
    throw new CliError(plainLine(what), {
      code: 'key_not_written',
      exitCode: isThere ? exitCodes.usage : exitCodes.failed,
      hint: 'name a file that does not exist yet, in a folder you may write to',
      cause: error,
    });
  }
}

function nameless(): CliError {
  return new CliError('--kid is empty', {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'give the key a name such as service-audit-v2',
  });
}
