import type { Finding, Path } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** The variable with the URL of the database where `store.url_env` names no other. */
export const usualUrlVariable = 'SERVICE_DATABASE_URL';

/**
 * Checks that the database of the tasks can be asked for: that its URL is there and is one of PostgreSQL
 * (docs/contract/configuration.md).
 */
export function checkStoreSettings(
  { store }: ServiceConfig,
  env: Readonly<Record<string, string | undefined>>,
  isWritten: (path: Path) => boolean = () => false,
): Finding[] {
  if (store.kind === 'sqlite') return unusedSettings(store);
  return [...checkUrl(store, env), ...(isWritten(rotation) ? [unrotated] : [])];
}

const rotation = ['audit', 'rotation'];

const unrotated: Finding = {
  path: rotation,
  message:
    'the log of kind: postgres is kept in the database, and its file is a copy that is not rotated; remove rotation',
  severity: 'warning',
};

function checkUrl(
  { url_env }: ServiceConfig['store'],
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const variable = url_env ?? usualUrlVariable;
  const path = ['store', url_env === undefined ? 'kind' : 'url_env'];
  const text = env[variable] ?? '';
  if (text === '') {
    const message = `${variable} is not set; it holds the URL of the database, such as postgres://agent@db.example.com/agents`;
    return [{ path, message, severity: 'error' }];
  }
  const url = URL.parse(text);
  if (/^postgres(ql)?:$/.test(url?.protocol ?? '')) {
    const message = tlsWarning(variable, url?.searchParams ?? new URLSearchParams());
    return message === null ? [] : [{ path, message, severity: 'warning' }];
  }
  // The text may hold a password, so nothing of it is said back.
  const message = `${variable} does not hold a URL of PostgreSQL; write postgres://USER:PASSWORD@HOST:PORT/DATABASE`;
  return [{ path, message, severity: 'error' }];
}

/** Says what of the wish for TLS in a URL is taken for something else than it says; `null` when nothing is. */
function tlsWarning(variable: string, query: URLSearchParams): string | null {
  const mode = query.get('sslmode') ?? '';
  if (mode === 'no-verify') {
    return `sslmode=no-verify in ${variable} trusts whoever answers; write sslmode=verify-full, with sslrootcert=/path/of/ca.pem for an authority of your own`;
  }
  if (!['prefer', 'require', 'verify-ca'].includes(mode) || query.has('uselibpqcompat')) {
    return null;
  }
  return `sslmode=${mode} in ${variable} is taken for verify-full, which checks the certificate and its name; write sslmode=verify-full`;
}

function unusedSettings(store: ServiceConfig['store']): Finding[] {
  return (['url_env', 'schema', 'pool'] as const)
    .filter((key) => store[key] !== undefined)
    .map((key) => ({
      path: ['store', key],
      message: `${key} is used by kind: postgres alone; write that, or remove it`,
      severity: 'warning',
    }));
}
