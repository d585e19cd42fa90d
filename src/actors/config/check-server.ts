import { isProxy } from '../rate-limit.ts';
import { errorAt, type Finding, type Path, warningAt } from './config-problem.ts';
import type { ServiceConfig } from './service-schema.ts';

/** Checks the public URL and the origins and proxies of `server`; an entry that can never match is an error. */
export function checkServer({ server, auth }: ServiceConfig): Finding[] {
  const isOpen = !auth.required && auth.providers.length === 0;
  return [
    ...(server.task_access === 'requester' && isOpen
      ? [
          warningAt(
            ['server', 'task_access'],
            'task_access: requester has no effect without authentication; configure auth.providers',
          ),
        ]
      : []),
    ...(server.public_url === '' || isPublicUrl(server.public_url)
      ? []
      : [
          errorAt(
            ['server', 'public_url'],
            'the public address is an http or https URL without credentials, ? and #, such as https://agents.example.com/refunds',
          ),
        ]),
    ...server.cors_origins.flatMap((origin, index) =>
      isOrigin(origin)
        ? []
        : [
            errorAt(
              ['server', 'cors_origins', index],
              'an origin is a scheme, a host and perhaps a port, such as https://desk.example.com, with nothing after it; or * for any',
            ),
          ],
    ),
    ...proxyFindings(server.rate_limit.trusted_proxies, [
      'server',
      'rate_limit',
      'trusted_proxies',
    ]),
  ];
}

/** Checks trusted proxies at a path of a file. */
export function proxyFindings(proxies: readonly string[], path: Path): Finding[] {
  const message =
    'a trusted proxy is an address, a network such as 10.0.0.0/8, or loopback, linklocal or uniquelocal';
  return proxies.flatMap((proxy, index) =>
    isProxy(proxy) ? [] : [errorAt([...path, index], message)],
  );
}

/** Checks that the URL contains no credentials: the card publishes it. */
function isPublicUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[?#\s]/.test(text) || url.username !== '' || url.password !== '')
    return false;
  return url.protocol === 'https:' || url.protocol === 'http:';
}

/** Browsers send an origin in exactly one form, and it is compared as text. */
function isOrigin(text: string): boolean {
  if (text === '*') return true;
  const url = URL.parse(text);
  if (url === null || url.host === '' || url.host.includes('*')) return false;
  return `${url.protocol}//${url.host}` === text;
}
