/** Returns the URL of a server on a host and port. */
export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns the URL at which this machine reaches a daemon, including a daemon that listens on every interface. */
export function localUrl({ host, port }: { host: string; port: number }): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return urlOf(reachable, port);
}
