const spelling = /^(?:localhost|127(?:\.(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}|::1)$/;

/**
 * Returns true if a host is exactly this machine: `localhost`, 127.0.0.0/8 or `::1`, in this spelling. Other spellings
 * are rejected, because a resolver may treat them as names, as are IPv4 addresses embedded in IPv6.
 */
export function isLoopback(host: string): boolean {
  return spelling.test(host);
}

/** Returns true if an http or https URL points to this machine, so its traffic never leaves it. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'));
}
