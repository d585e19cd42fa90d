import { existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { commandLine } from '../../actors/command-line.ts';
import { writeNewFile } from '../../actors/write-new-file.ts';
import type { JsonObject } from '../../machines/json.ts';
import { messageOf } from '../../machines/message-of.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { confirmed } from '../confirmed.ts';
import { checkedUrl, guardFolder } from '../hook/gate-address.ts';
import { plainText } from '../plain-text.ts';
import type { Session } from '../session.ts';
import { difference, indentOf, readSettings } from './edit-settings.ts';
import { hooksSwitch } from './hooks-off.ts';
import { type HostSettings, hostSettings, textOf, withoutHooks } from './host-settings.ts';

export interface InstallOptions {
  dir?: string;
  url?: string;
  http?: boolean;
  project?: string | true;
  user?: boolean;
  yes?: boolean;
}

/** `guard install DIALECT`: writes the hooks of a coding agent into its settings (docs/guard.md). */
export async function guardInstall(
  session: Session,
  dialect: string,
  options: InstallOptions,
): Promise<void> {
  const { host, path, before } = find(session, dialect, options);
  const url = addressOf(options);
  const send = options.http === true ? sender(dialect, host, url) : null;
  refuseOff(session, dialect, options);
  const gate = resolve(options.dir ?? guardFolder());
  const settings = host.kind === 'own' ? {} : withoutHooks(readSettings(path, before));
  const added =
    send?.(settings) ?? host.add(settings, url === null ? ['--dir', gate] : ['--url', url]);
  const after = typeof added === 'string' ? added : textOf(added, indentOf(before));
  const isWritten = await change(session, { path, before, after, verb: 'Install' }, options);
  const { output } = session;
  if (isWritten) output.line(plainText(`the hooks of ${dialect} are in ${path}`));
  else output.line(plainText(`the hooks of ${dialect} are in ${path} already`));
  output.json({ dialect, path, changed: isWritten });
  if (host.hint !== undefined) output.note(host.hint);
  if (options.project === undefined) {
    output.note(
      'these hooks ask in every project of this user, and a gate guards one: calls in others wait for a person; --project installs them for one project',
    );
  }
  if (url === null) {
    output.note(`start the gate with: ${commandLine(`guard --dir ${shellWord(gate)}`)}`);
  } else output.note('the token is SERVICE_TOKEN in the environment of the coding agent');
  if (send !== null)
    output.note('an old version of it runs calls without the gate: see docs/guard');
}

/** Returns the address of a gate, or `null` for that of a folder. Throws CliError. */
function addressOf({ dir, url }: InstallOptions): string | null {
  if (url === undefined) return null;
  if (dir !== undefined) {
    throw new CliError('--dir and --url name two gates', {
      ...{ code: 'usage', exitCode: exitCodes.usage, hint: 'give one of them' },
    });
  }
  try {
    return checkedUrl(url);
  } catch (cause) {
    throw new CliError(messageOf(cause), { code: 'usage', exitCode: exitCodes.usage, cause });
  }
}

/**
 * Returns what adds hooks that the host itself sends. Throws CliError for any address but https: only a certificate proves
 * that the listener is the gate, and the host runs the call if another program answers with 200 and no decision.
 */
function sender(dialect: string, host: HostSettings, url: string | null) {
  const refuse = (message: string, hint: string): CliError =>
    new CliError(message, { code: 'no_http_hook', exitCode: exitCodes.usage, hint });
  if (host.addHttp === undefined) {
    throw refuse(`${dialect} sends no events over HTTP`, 'install its hooks without --http');
  }
  if (url === null || !url.startsWith('https:')) {
    const why = 'over HTTP without TLS another program could answer in place of the gate';
    throw refuse(why, 'give the https address of a gate with --url, or install without --http');
  }
  return (settings: JsonObject) => host.addHttp?.(settings, url);
}

/** Throws CliError where the host runs no hooks, since every call would then run without the gate. */
function refuseOff({ env }: Session, dialect: string, { project }: InstallOptions): void {
  const folder = resolve(typeof project === 'string' ? project : '.');
  const found = hooksSwitch(dialect, { project: folder, env });
  if (found === null) return;
  const { path, setting } = found;
  throw new CliError(
    plainText(`${setting} in ${path} switches the hooks of ${dialect} off; nothing was changed`),
    {
      code: 'hooks_off',
      exitCode: exitCodes.failed,
      hint: 'remove the setting, and install the hooks again',
    },
  );
}

/** `guard uninstall DIALECT`: removes the hooks of Holdpoint and keeps every other setting (docs/guard.md). */
export async function guardUninstall(
  session: Session,
  dialect: string,
  options: InstallOptions,
): Promise<void> {
  const { host, path, before } = find(session, dialect, options);
  const backup = backupOf(path);
  const original = existsSync(backup) ? readFileSync(backup, 'utf8') : null;
  const after = host.kind === 'own' ? (original ?? '') : restored(path, before, original);
  const isWritten = await change(session, { path, before, after, verb: 'Remove' }, options);
  rmSync(backup, { force: true });
  const { output } = session;
  if (isWritten) output.line(plainText(`the hooks of ${dialect} were removed from ${path}`));
  else output.line(plainText(`there are no hooks of Holdpoint in ${path}`));
  output.json({ dialect, path, changed: isWritten });
}

/** The text without the hooks: byte for byte as before if nothing else has changed since. */
function restored(path: string, before: string, original: string | null): string {
  const settings = readSettings(path, before);
  const without = withoutHooks(settings);
  const known = original === null ? {} : readSettings(path, original);
  const isSame = (one: object) => JSON.stringify(one) === JSON.stringify(without);
  if (original !== null && isSame(known)) return original;
  if (original === null && (isSame({}) || isSame({ version: 1 }))) return '';
  return without === settings || isSameText(without, settings)
    ? before
    : textOf(without, indentOf(before));
}

function isSameText(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function find({ env }: Session, dialect: string, { project, user }: InstallOptions) {
  if (project !== undefined && user === true) {
    throw new CliError('--project and --user name two files', {
      ...{ code: 'usage', exitCode: exitCodes.usage, hint: 'give one of them' },
    });
  }
  const host = hostSettings.get(dialect) as HostSettings;
  const folder = project === undefined ? null : resolve(project === true ? '.' : project);
  const named = host.path({ project: folder, env });
  // A link to a file of the user's own is followed, so that the link stays.
  const path = existsSync(named) ? realpathSync(named) : named;
  return { host, path, before: existsSync(path) ? readFileSync(path, 'utf8') : '' };
}

interface Change {
  path: string;
  before: string;
  after: string;
  verb: string;
}

/** Shows a change, asks, and writes it; false if there is nothing to change. An empty text removes the file. */
async function change(
  session: Session,
  { path, before, after, verb }: Change,
  { yes }: InstallOptions,
) {
  if (before === after) return false;
  session.output.note(plainText([path, ...difference(before, after)].join('\n')));
  if (yes !== true) await confirmed(session, `${verb} these hooks?`);
  if (after === '') rmSync(path);
  else await replace(path, { before, after });
  return true;
}

async function replace(path: string, { before, after }: { before: string; after: string }) {
  await mkdir(dirname(path), { recursive: true });
  const mode = before === '' ? 0o600 : statSync(path).mode & 0o777;
  const backup = backupOf(path);
  if (before !== '' && !existsSync(backup)) await writeNewFile(backup, before, mode);
  const draft = `${path}.holdpoint-${process.pid}`;
  await writeFile(draft, after, { flag: 'wx', mode });
  await rename(draft, path);
}

function backupOf(path: string): string {
  return `${path}.before-holdpoint`;
}
