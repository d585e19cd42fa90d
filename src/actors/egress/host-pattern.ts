import { isIP, isIPv6 } from 'node:net';

/** A host itself, or every strictly deeper subdomain of `domain` (document 2 section 2.5). */
export type HostPattern = { kind: 'exact'; host: string } | { kind: 'below'; domain: string };

/** A pattern and the one port that it is for; `null` for any. */
export interface HostEntry {
  pattern: HostPattern;
  port: number | null;
}

/** A pattern that was read, or one sentence on why it cannot be. */
export type ReadHostPattern = { ok: true; pattern: HostPattern } | { ok: false; message: string };

/**
 * Brings a host into the one form in which hosts are compared: lower case, ASCII, without port and
 * trailing dot, addresses in their shortest form and without brackets. `null` for what is no host.
 */
export function normaliseHost(text: string): string | null {
  // The parser of URLs would drop or decode these and go on.
  if (text === '' || /[\s/\\?#@%]|\p{Cc}/u.test(text)) return null;
  const url = URL.parse(`http://${isIPv6(text) ? `[${text}]` : text}`);
  if (url === null) return null;
  const bare = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return isIP(bare) !== 0 || isName(bare) ? bare : null;
}

/**
 * Takes the port off a host or pattern such as `api.example.com:8443` or `[::1]:9000`; an address in IPv6 without
 * brackets has none. `null` for a port that is none.
 */
export function splitPort(text: string): { host: string; port: number | null } | null {
  const [, host, digits] = /^([^:]*|\[.*\]):([^:/]*)$/.exec(text) ?? [];
  if (host === undefined || digits === undefined) return { host: text, port: null };
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  return port >= 1 && port <= 65_535 ? { host, port } : null;
}

/** Reads a host pattern: a host, or `*.` and a domain; upper case, a port and a trailing dot do not matter. */
export function readHostPattern(text: string): ReadHostPattern {
  if (text.includes('://') || text.includes('/')) {
    return refused(text, 'is a URL; write its host alone, such as api.example.com');
  }
  const deeper = text.startsWith('*.');
  const host = normaliseHost(deeper ? text.slice(2) : text);
  if (host === null || host.includes('*')) {
    return refused(text, 'is no host; write a name such as api.example.com or *.example.com');
  }
  if (!deeper) return { ok: true, pattern: { kind: 'exact', host } };
  if (isIP(host) === 0) return { ok: true, pattern: { kind: 'below', domain: host } };
  return refused(text, 'has an address after the star; write a domain, such as *.example.com');
}

/** Says whether a host in the form of `normaliseHost` matches. */
export function matchesHost(pattern: HostPattern, host: string): boolean {
  return pattern.kind === 'exact' ? host === pattern.host : host.endsWith(`.${pattern.domain}`);
}

/** Writes a pattern in the form in which it is compared. */
export function writeHostPattern(pattern: HostPattern): string {
  return pattern.kind === 'exact' ? pattern.host : `*.${pattern.domain}`;
}

/** Names are at most 253 characters and their labels at most 63, none of them empty. */
function isName(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => /^[^.]{1,63}$/.test(label));
}

function refused(text: string, why: string): ReadHostPattern {
  return { ok: false, message: `${JSON.stringify(text)} ${why}` };
}
