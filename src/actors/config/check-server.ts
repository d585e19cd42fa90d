import type { Finding } from './problem.ts';
import { isProxy } from './rate-limit.ts';
import type { ServiceConfig } from './schema.ts';

/** Checks the origins and the proxies that `server` lists: one that can never match is a mistake. */
export function checkServer({ server }: ServiceConfig): Finding[] {
  return [
    ...server.cors_origins.flatMap((origin, index) =>
      isOrigin(origin)
        ? []
        : mistake(
            ['cors_origins', index],
            'an origin is a scheme, a host and perhaps a port, such as https://desk.example.com, with nothing after it; or * for any',
          ),
    ),
    ...server.rate_limit.trusted_proxies.flatMap((proxy, index) =>
      isProxy(proxy)
        ? []
        : mistake(
            ['rate_limit', 'trusted_proxies', index],
            'a trusted proxy is an address, a network such as 10.0.0.0/8, or loopback, linklocal or uniquelocal',
          ),
    ),
  ];
}

/** Browsers send an origin in exactly one form, and it is compared as text. */
function isOrigin(text: string): boolean {
  if (text === '*') return true;
  const url = URL.parse(text);
  if (url === null || url.host === '' || url.host.includes('*')) return false;
  return `${url.protocol}//${url.host}` === text;
}

function mistake(path: (string | number)[], message: string): Finding[] {
  return [{ path: ['server', ...path], message, severity: 'error' }];
}
