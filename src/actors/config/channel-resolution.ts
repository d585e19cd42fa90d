import { isLoopbackUrl } from '../../machines/loopback.ts';
import type { Finding, Path } from './config-problem.ts';

/** The variables of the environment that hold secrets. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What the file of an adapter and the environment come to; the paths are places in the file. */
export interface Resolution<Settings> {
  /** `null` when something is missing or wrong. */
  settings: Settings | null;
  findings: Finding[];
}

/** A secret as the environment holds it. */
export interface Secret {
  /** The key that names the variable. */
  path: Path;
  /** Its name, fit to be shown. */
  variable: string;
  /** `null` when the variable is not set. */
  value: string | null;
}

/** The end of the sentence about a held call that no adapter announces (docs/contract/chat.md). */
export const untold = 'the deferral holds until a direct POST to the decisions endpoint';

/** Reads a secret from the environment; a blank one counts as not set. */
export function secretOf(path: Path, variable: string, env: Environment): Secret {
  const value = Object.hasOwn(env, variable) ? (env[variable] ?? '') : '';
  return { path, variable: shownName(variable), value: value.trim() === '' ? null : value };
}

/** Reads a token as `secretOf` does, without the blanks around it that come with copying. */
export function tokenOf(path: Path, variable: string, env: Environment): Secret {
  const secret = secretOf(path, variable, env);
  return { ...secret, value: secret.value?.trim() ?? null };
}

/** A secret written where its variable belongs can look like a name, though seldom like a usual one. */
function shownName(variable: string): string {
  return /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(variable) ? variable : 'the variable named here';
}

/** Adds secrets to settings; neither JSON nor inspection shows them. */
export function hiding<Open extends object, Secrets extends Record<string, string>>(
  open: Open,
  secrets: Secrets,
): Open & Secrets {
  for (const [key, value] of Object.entries(secrets)) {
    Object.defineProperty(open, key, { value, enumerable: false });
  }
  return open as Open & Secrets;
}

/** Warns of a URL that carries secrets over plain http to another machine. */
export function plainFindings(text: string, path: Path): Finding[] {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' || isLoopbackUrl(url)) return [];
  return [
    warning(path, `anyone on the way to ${url.host} can read and change what passes; use https`),
  ];
}

/** Creates a finding that keeps the agent from starting. */
export function error(path: Path, message: string): Finding {
  return { path, message, severity: 'error' };
}

/** Creates a finding that the agent starts with all the same. */
export function warning(path: Path, message: string): Finding {
  return { path, message, severity: 'warning' };
}
