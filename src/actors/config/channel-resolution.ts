import { isLoopbackUrl } from '../../machines/loopback.ts';
import { type Finding, type Path, warningAt } from './config-problem.ts';

/** Environment variables, including those that hold secrets. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Result of combining an adapter's file with the environment; paths refer to the file. */
export interface Resolution<Settings> {
  /** `null` if a setting is missing or invalid. */
  settings: Settings | null;
  findings: Finding[];
}

/** A secret read from the environment. */
export interface Secret {
  /** Path of the key that names the variable. */
  path: Path;
  /** The variable's name, safe to display. */
  variable: string;
  /** `null` if the variable is not set. */
  value: string | null;
}

/** End of the warning about a held call that no adapter announces (docs/contract/chat.md). */
export const untold = 'the deferral holds until a direct POST to the decisions endpoint';

/** Reads a secret from the environment; a blank one counts as unset. */
export function secretOf(path: Path, variable: string, env: Environment): Secret {
  const value = Object.hasOwn(env, variable) ? (env[variable] ?? '') : '';
  return { path, variable: shownName(variable), value: value.trim() === '' ? null : value };
}

/** Reads a token like `secretOf`, and trims white space that was copied with it. */
export function tokenOf(path: Path, variable: string, env: Environment): Secret {
  const secret = secretOf(path, variable, env);
  return { ...secret, value: secret.value?.trim() ?? null };
}

/** The configured name might be the secret itself, so only a conventional variable name is displayed. */
function shownName(variable: string): string {
  return /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/.test(variable) ? variable : 'the variable named here';
}

/** Adds secrets to settings as non-enumerable properties, so JSON and `inspect` output omit them. */
export function hiding<Open extends object, Secrets extends Record<string, string>>(
  open: Open,
  secrets: Secrets,
): Open & Secrets {
  for (const [key, value] of Object.entries(secrets)) {
    Object.defineProperty(open, key, { value, enumerable: false });
  }
  return open as Open & Secrets;
}

/** Warns about a URL that carries secrets over plain http to another machine. */
export function plainFindings(text: string, path: Path): Finding[] {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' || isLoopbackUrl(url)) return [];
  return [
    warningAt(path, `anyone on the path to ${url.host} can read and change the traffic; use https`),
  ];
}
