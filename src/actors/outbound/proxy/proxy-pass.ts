import type { Pass } from './passes.ts';

/** What one run may sign in with until it is released. */
export interface ProxyPass {
  /** Variables that point programs at the proxy. */
  env: Record<string, string>;
  /** What must not show in anything the run says. */
  secretValues: string[];
  /** What the egress policy said of the hosts that it refused to the run, each once. */
  refusals(): string[];
  /** Makes the pass void and ends its connections. */
  release(): void;
}

/** Describes a pass to a run, for a proxy on a port of 127.0.0.1. */
export function shownPass(
  { user, password, refusals }: Pass,
  port: number,
): Omit<ProxyPass, 'release'> {
  const encoded = Buffer.from(`${user}:${password}`).toString('base64');
  const url = `http://${user}:${password}@127.0.0.1:${port}`;
  // Programs look for these in either case, and Node's own fetch only when it is told to.
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
