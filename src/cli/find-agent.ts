import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { commandLine } from '../actors/command-line.ts';
import { isAlive, readOwnToken, readServeFile, type ServeFile } from '../actors/process/process.ts';
import { shellWord } from '../machines/shell-word.ts';
import { localUrl } from '../machines/url-of.ts';
import { chooseFolder, type Tell } from './choose-agent.ts';
import { CliError, exitCodes } from './cli-error.ts';

/** The agent that a client command addresses, and the identity to use. */
export interface AgentChoice {
  /** Folder of an agent on this machine; ignored if `url` is given. If absent, a running agent is searched for. */
  dir?: string;
  url?: string;
  tokenFile?: string;
}

/** An agent's URL and the credential to send. */
export interface AgentAddress {
  url: string;
  token: string | null;
  /** The secret that the listener at this port must prove before a request is sent; `null` for an explicit URL. */
  proof: { key: string; port: number } | null;
  /** The command that starts the agent if it does not respond. */
  startHint: string;
  /** The options that select the same agent in another command, each preceded by a space; empty if none is needed. */
  flags: string;
  /** True if other daemons on the same database continue the agent's tasks; absent if unknown. */
  isShared?: true;
}

/**
 * Finds an agent by its URL, through the `serve.json` of its folder, or as the only running agent. The token comes from
 * --token-file, then SERVICE_TOKEN, then the daemon's own token. An agent that the user did not name receives only the
 * daemon's own token. Throws CliError with exit code 3 if no agent is running, and 4 if the token cannot be read.
 */
export function findAgent(
  choice: AgentChoice,
  env: NodeJS.ProcessEnv,
  tell: Tell = () => undefined,
): AgentAddress {
  const { url, tokenFile } = choice;
  const given = tokenFile === undefined ? env['SERVICE_TOKEN'] : readToken(tokenFile);
  const token = given === undefined || given === '' ? null : given;
  if (url !== undefined) {
    const hint = 'check the address, or start the agent';
    const flags = agentFlags(choice);
    return { url: checkedUrl(url), token, proof: null, startHint: hint, flags };
  }
  const { dir, isFound } = chooseFolder(choice.dir, env, tell);
  if (isFound && token !== null) throw tokenNotMeant(dir, tokenFile !== undefined);
  const startHint = `start it with: ${commandLine(`run --dir ${shellWord(dir)}`)}`;
  const served = readServeFile(join(resolve(dir), '.service'));
  if (served === null || !isAlive(served.pid)) {
    throw new CliError(`no agent runs in ${resolve(dir)}`, {
      code: 'not_running',
      exitCode: exitCodes.notFound,
      hint: startHint,
    });
  }
  const proof = { key: served.proof_key, port: served.port };
  const own = isFound ? tokenInside(resolve(dir), served) : ownToken(served);
  const flags = agentFlags(choice);
  return {
    ...{ url: localUrl(served), token: token ?? own, proof, startHint, flags },
    ...(served.is_shared === undefined ? {} : { isShared: served.is_shared }),
  };
}

/** Returns the options that select the same agent in another command, each preceded by a space. */
export function agentFlags({ dir, url }: AgentChoice): string {
  if (url !== undefined) return ` --url ${shellWord(url)}`;
  return dir === undefined ? '' : ` --dir ${shellWord(dir)}`;
}

/**
 * A process that can write the list of running agents could insert a folder of its own. An agent from the list
 * therefore receives no token that is valid elsewhere.
 */
function tokenNotMeant(dir: string, isFile: boolean): CliError {
  const source = isFile ? '--token-file' : 'SERVICE_TOKEN';
  return new CliError(`the token of ${source} is shown to an agent that you name alone`, {
    code: 'agent_not_named',
    exitCode: exitCodes.usage,
    hint: `name it with --dir ${shellWord(dir)}`,
  });
}

/**
 * Returns the token inside the folder of an agent from the list. Ignores a token path in `serve.json` that points
 * outside the folder.
 */
function tokenInside(directory: string, served: ServeFile): string | null {
  const token = readOwnToken(directory);
  if (token !== null || !served.auth_enabled) return token;
  throw new CliError(`the agent in ${directory} has no token of its own that may be used`, {
    code: 'token_unreadable',
    exitCode: exitCodes.authentication,
    hint: `name the agent with --dir ${shellWord(directory)}`,
  });
}

function ownToken(served: ServeFile): string | null {
  return served.auth_enabled ? readToken(served.token_path) : tokenIfReadable(served.token_path);
}

function tokenIfReadable(path: string): string | null {
  try {
    return readToken(path);
  } catch {
    return null;
  }
}

function readToken(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(`the token file ${path} cannot be read`, {
      code: 'token_unreadable',
      exitCode: exitCodes.authentication,
      hint: 'check its path and permissions, or set SERVICE_TOKEN',
      cause: error,
    });
  }
  return checkedToken(text, path);
}

function checkedToken(text: string, path: string): string {
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CliError(`the token file ${path} does not hold a token`, {
    code: 'token_unreadable',
    exitCode: exitCodes.authentication,
    hint: 'put the token alone on its first line',
  });
}

function checkedUrl(text: string): string {
  const url = URL.parse(text);
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url !== null && isHttp && url.username === '' && url.password === '') {
    return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  }
  throw new CliError('--url must be an http or https address without a user name', {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'write it like http://127.0.0.1:8080',
  });
}
