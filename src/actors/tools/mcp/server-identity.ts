import { stat } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import type { JsonObject } from '../../../machines/json.ts';
import { digestSettings } from '../digest-settings.ts';
import { digestOf, digestTree } from '../skills/skills.ts';
import { codeName, namedFiles } from './server-code.ts';
import type { ServerPlace } from './server-process.ts';
import { programOf } from './server-program.ts';
import type { McpServerSettings } from './server-settings.ts';

/** File extensions of configuration that determines a server's behaviour. */
const configurationFile = /\.(?:json|jsonc|ya?ml|toml|ini|conf|cfg)$/i;

/**
 * Returns the identity of a server apart from its tool definitions: its URL, or its program, code and environment
 * settings. The same definition on another server is a different tool. Rejects if a part currently cannot be read.
 */
export async function serverIdentity(
  server: McpServerSettings,
  place: Pick<ServerPlace, 'agentDirectory' | 'isolation'>,
): Promise<JsonObject> {
  const { url, command = '', args, headers, env, auth } = server;
  if (url !== undefined) {
    const { type, client_id = null, issuer = null, resource = null, scopes = [] } = auth ?? {};
    const access = auth && { type: type ?? null, client_id, issuer, resource, scopes: [...scopes] };
    return { url, headers: digestSettings(headers), ...(access && { auth: access }) };
  }
  const program = await digestOf(programOf(command, place.agentDirectory));
  const code = await codeOf(server, place);
  return { command, args: [...args], env: digestSettings(env), program, code };
}

async function codeOf(
  { args, command = '' }: McpServerSettings,
  { agentDirectory, isolation }: Pick<ServerPlace, 'agentDirectory' | 'isolation'>,
): Promise<JsonObject> {
  const { hidden = [], writable = [] } = isolation();
  const words = await filesOf([command, ...args], agentDirectory);
  const files = words.map((word) => resolve(agentDirectory, word));
  const own = files.map((file) => dirname(file)).filter((folder) => folder !== agentDirectory);
  const tree = await digestTree({ agentDirectory, own, apart: [...hidden, ...writable] });
  const named = await Promise.all(files.map((file) => digestOf(file)));
  return { tree, named: Object.fromEntries(words.map((word, at) => [word, named[at] ?? ''])) };
}

/** Returns the words of a command line that name code or configuration files. */
async function filesOf(words: readonly string[], agentDirectory: string): Promise<string[]> {
  const named = namedFiles(words).filter(
    (word) => codeName.test(word) || configurationFile.test(word) || extname(word) === '',
  );
  const found = await Promise.all(
    named.map((word) =>
      stat(resolve(agentDirectory, word)).then(
        (one) => one.isFile(),
        () => false,
      ),
    ),
  );
  return named.filter((_, at) => found[at]);
}
