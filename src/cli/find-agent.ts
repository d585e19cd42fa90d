import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readServeFile, type ServeFile } from '../actors/process/serve-file.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { shellWord } from './shell-word.ts';

/** Which agent a client command talks to, and as whom. */
export interface AgentChoice {
  /** The folder of an agent on this machine; not looked at when `url` is given. */
  dir: string;
  url?: string;
  tokenFile?: string;
}

/** Where an agent answers and what to show it. */
export interface AgentAddress {
  url: string;
  token: string | null;
  /** What its listener must prove to know, at its port, before anything is sent; `null` at an address that was given. */
  proof: { key: string; port: number } | null;
  /** What starts the agent when it does not answer. */
  startHint: string;
}

/**
 * Finds an agent by its address or through the `serve.json` of its folder. The token is that of
 * --token-file, else of SERVICE_TOKEN, else the daemon's own. Throws a CliError that ends in 3
 * when no agent runs, in 4 when the token cannot be read.
 */
export function findAgent(
  { dir, url, tokenFile }: AgentChoice,
  env: NodeJS.ProcessEnv,
): AgentAddress {
  const given = tokenFile === undefined ? env['SERVICE_TOKEN'] : readToken(tokenFile);
  const token = given === undefined || given === '' ? null : given;
  if (url !== undefined) {
    const hint = 'check the address, or start the agent';
    return { url: checkedUrl(url), token, proof: null, startHint: hint };
  }
  const startHint = `start it with: holdpoint run --dir ${shellWord(dir)}`;
  const served = readServeFile(join(resolve(dir), '.service'));
  if (served === null || !isAlive(served.pid)) {
    throw new CliError(`no agent runs in ${resolve(dir)}`, {
      code: 'not_running',
      exitCode: exitCodes.notFound,
      hint: startHint,
    });
  }
  const proof = { key: served.proof_key, port: served.port };
  return { url: urlOf(served), token: token ?? ownToken(served), proof, startHint };
}

/** Tells whether a process is there. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** The address at which this machine reaches a daemon, also one that listens on every interface. */
export function urlOf({ host, port }: Pick<ServeFile, 'host' | 'port'>): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
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
  let token: string;
  try {
    token = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new CliError(`the token file ${path} cannot be read`, {
      code: 'token_unreadable',
      exitCode: exitCodes.authentication,
      hint: 'check its path and permissions, or set SERVICE_TOKEN',
      cause: error,
    });
  }
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
