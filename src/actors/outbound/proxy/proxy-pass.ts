import type { Pass } from './passes.ts';

/** Proxy credentials of one run, valid until released. */
export interface ProxyPass {
  /** Variables that point programs at the proxy. */
  env: Record<string, string>;
  /** Values that must be redacted from all output of the run. */
  secretValues: string[];
  /** Returns the distinct refusals of the egress policy for the run. */
  refusals(): string[];
  /** Invalidates the pass and closes its connections. */
  release(): void;
}

/** Creates the run's view of a pass, for a proxy on a port of 127.0.0.1. */
export function shownPass(
  { user, password, refusals }: Pass,
  port: number,
): Omit<ProxyPass, 'release'> {
  const encoded = Buffer.from(`${user}:${password}`).toString('base64');
  const url = `http://${user}:${password}@127.0.0.1:${port}`;
  // Programs read these variables in either case; Node's fetch uses them only if NODE_USE_ENV_PROXY is set.
  const env: Record<string, string> = { NO_PROXY: '', no_proxy: '', NODE_USE_ENV_PROXY: '1' };
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) {
    env[name] = url;
    env[name.toLowerCase()] = url;
  }
  return {
    env,
    secretValues: [password, encoded, user],
    refusals: () => [...refusals],
  };
}
