import { readHostPattern } from '../egress/egress.ts';
import { matchesHost, normaliseHost } from '../egress/host-pattern.ts';

const longest = 2_048;

/**
 * Returns why an endpoint that a browser sent is none of the push services of the settings; `null` if it is. A service is
 * a host pattern, reached over https at port 443, or the origin of one on loopback.
 */
export function pushServiceFault(endpoint: string, services: readonly string[]): string | null {
  const url = endpoint.length > longest ? null : URL.parse(endpoint);
  if (url === null || url.username !== '' || url.password !== '') {
    return 'the endpoint must be a URL of at most 2,048 characters without credentials';
  }
  if (services.includes(url.origin) && !readHostPattern(url.origin).ok) return null;
  const host = normaliseHost(url.hostname);
  const isKnown = services.some((service) => {
    const read = readHostPattern(service);
    return read.ok && host !== null && matchesHost(read.pattern, host);
  });
  if (isKnown && url.protocol === 'https:' && url.port === '') return null;
  return 'the push service of this browser is not allowed here; ask the operator to add its host to approvals.push_services';
}
