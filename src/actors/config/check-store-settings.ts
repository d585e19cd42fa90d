import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Variable of the database URL if `store.url_env` is not set. */
export const usualUrlVariable = 'SERVICE_DATABASE_URL';

/** Checks that the URL of the task database is set and is a PostgreSQL URL (docs/contract/configuration.md). */
export function checkStoreSettings(
  { store }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
  isWritten: (path: Path) => boolean = () => false,
): Finding[] {
  if (store.kind === 'sqlite') return unusedSettings(store);
  return [...checkUrl(store, env), ...(isWritten(rotation) ? [unrotated] : [])];
}

const rotation = ['audit', 'rotation'];

const unrotated = warningAt(
  rotation,
  'the log of kind: postgres is kept in the database, and its file is a copy that is not rotated; remove rotation',
);

function checkUrl(
  { url_env }: ServiceConfig['store'],
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const variable = url_env ?? usualUrlVariable;
  const path = ['store', url_env === undefined ? 'kind' : 'url_env'];
  const text = env[variable] ?? '';
  if (text === '') {
    const message = `${variable} is not set; it holds the URL of the database, such as postgres://agent@db.example.com/agents`;
    return [errorAt(path, message)];
  }
  const url = URL.parse(text);
  if (/^postgres(ql)?:$/.test(url?.protocol ?? '')) {
    const message = tlsWarning(variable, url?.searchParams ?? new URLSearchParams());
    return message === null ? [] : [warningAt(path, message)];
  }
  // The text may contain a password, so the message repeats none of it.
  const message = `${variable} does not hold a URL of PostgreSQL; write postgres://USER:PASSWORD@HOST:PORT/DATABASE`;
  return [errorAt(path, message)];
}

/** Returns a warning if a TLS option in the URL is not interpreted as written; `null` otherwise. */
function tlsWarning(variable: string, query: URLSearchParams): string | null {
  const mode = query.get('sslmode') ?? '';
  if (mode === 'no-verify') {
    return `sslmode=no-verify in ${variable} trusts any server; write sslmode=verify-full, with sslrootcert=/path/of/ca.pem for an authority of your own`;
  }
  if (!['prefer', 'require', 'verify-ca'].includes(mode) || query.has('uselibpqcompat')) {
    return null;
  }
  return `sslmode=${mode} in ${variable} is treated as verify-full, which checks the certificate and its name; write sslmode=verify-full`;
}

function unusedSettings(store: ServiceConfig['store']): Finding[] {
  return (['url_env', 'schema', 'pool'] as const)
    .filter((key) => store[key] !== undefined)
    .map((key) =>
      warningAt(['store', key], `${key} is used by kind: postgres alone; write that, or remove it`),
    );
}
