import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { readOwnToken } from '../../actors/own-token.ts';
import { readSmallFile } from '../../actors/read-small-file.ts';
import { isJsonObject, parseJson } from '../../machines/json.ts';
import { localUrl } from '../../machines/url-of.ts';

/** The gate that a hook asks. */
export interface GateChoice {
  dir?: string | undefined;
  url?: string | undefined;
  tokenFile?: string | undefined;
}

/** The URL of a gate, the token to send, and the proof that its listener must give first. */
export interface GateAddress {
  url: string;
  token: string | null;
  /** `null` for an explicit URL. */
  proof: { key: string; port: number } | null;
}

/** There is no gate to ask; the message is for the user. */
export class NoGateError extends Error {
  readonly code = 'no_gate';
}

/** Folder of the gate that `holdpoint guard` starts. */
export function guardFolder(): string {
  return join(homedir(), '.holdpoint', 'guard');
}

/**
 * Finds the gate: flags, then `SERVICE_GATE_URL` or `SERVICE_GATE_DIR`, then the folder of `holdpoint guard`. A flag wins
 * over the environment, which a project's settings may change. Throws NoGateError.
 */
export function gateAddress(choice: GateChoice, env: NodeJS.ProcessEnv): GateAddress {
  const isNamed = choice.dir !== undefined || choice.url !== undefined;
  const url = isNamed ? choice.url : env['SERVICE_GATE_URL'];
  if (url !== undefined && url !== '') {
    const token =
      choice.tokenFile === undefined ? env['SERVICE_TOKEN'] : readToken(choice.tokenFile);
    return { url: checkedUrl(url), token: token || null, proof: null };
  }
  const dir = resolve(choice.dir ?? (env['SERVICE_GATE_DIR'] || guardFolder()));
  const served = parseJson(readSmallFile(join(dir, '.service', 'serve.json')) ?? '');
  if (!isJsonObject(served)) throw new NoGateError(`no gate runs in ${dir}`);
  const { host, port, proof_key: key } = served;
  if (typeof host !== 'string' || typeof port !== 'number' || typeof key !== 'string') {
    throw new NoGateError(`the file serve.json of the gate in ${dir} is damaged; restart the gate`);
  }
  const { tokenFile } = choice;
  const token = tokenFile === undefined ? readOwnToken(dir) : readToken(tokenFile);
  return { url: localUrl({ host, port }), token, proof: { key, port } };
}

function readToken(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch {
    throw new NoGateError(`the token file ${path} cannot be read; check its path and permissions`);
  }
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new NoGateError(`the token file ${path} holds no token; put the token alone in it`);
}

/** Returns an address without a slash at its end. Throws NoGateError unless it is http or https. */
export function checkedUrl(text: string): string {
  const url = URL.parse(text);
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (url === null || !isHttp || url.username !== '' || url.password !== '') {
    throw new NoGateError('the address of the gate is no http or https address; check --url');
  }
  return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
}
