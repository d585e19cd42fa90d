const spelling = /^(?:localhost|127(?:\.(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}|::1)$/;

/**
 * Returns whether a host leads to this machine itself and nowhere else: `localhost`, 127.0.0.0/8 or `::1`, in this very
 * form. Another spelling is refused, as a resolver may take it for a name; so is an IPv4 address inside an IPv6 one.
 */
export function isLoopback(host: string): boolean {
  return spelling.test(host);
}

/** Returns whether an http or https URL leads to this machine, so that nobody is on the way there. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
}
