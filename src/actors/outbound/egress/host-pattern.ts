import { isIP, isIPv6 } from 'node:net';

/** A host, or with `isWildcard` all hosts strictly below it (docs/contract/correlation.md). */
export interface HostPattern {
  /** In the form of `normaliseHost`. */
  host: string;
  isWildcard: boolean;
}

/** A pattern with its only port; `null` for any port. */
export interface HostEntry {
  pattern: HostPattern;
  port: number | null;
}

/** A parsed pattern, or one sentence about its problem. */
export type HostPatternReading =
  | { ok: true; pattern: HostPattern }
  | { ok: false; message: string };

/** A parsed list entry with its port, or one sentence about its problem. */
export type HostEntryReading = ({ ok: true } & HostEntry) | { ok: false; message: string };

/**
 * Normalises a host for comparison: lower case, ASCII, without port and trailing dot; addresses in their shortest form
 * and without brackets. Returns `null` for an invalid host.
 */
export function normaliseHost(text: string): string | null {
  // The URL parser would silently drop or decode these characters.
  if (text === '' || /[\s/\\?#@%]|\p{Cc}/u.test(text)) return null;
  const url = URL.parse(`http://${isIPv6(text) ? `[${text}]` : text}`);
  if (url === null) return null;
  const bare = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return isIP(bare) !== 0 || isName(bare) ? bare : null;
}

/** Parses a host pattern; upper case and a trailing dot are accepted. */
export function readHostPattern(text: string): HostPatternReading {
  const message = mistakeIn(text);
  if (message !== null) return { ok: false, message };
  const isWildcard = text.startsWith('*.');
  const host = listedHost(isWildcard ? text.slice(2) : text);
  if (host === null) return { ok: false, message: `this is not a host; write one ${example}` };
  if (isWildcard && isIP(host) !== 0) {
    return { ok: false, message: 'an address has no subdomains; remove the *.' };
  }
  return { ok: true, pattern: { host, isWildcard } };
}

/** Parses a host pattern with an optional port, such as `api.example.com:8443` or `[::1]:9000`. */
export function readHostEntry(text: string): HostEntryReading {
  if (text.includes('/')) return { ok: false, message: noHost(URL.parse(text)?.host) };
  const parts = splitPort(text);
  if (parts === null) {
    const message = 'the port must be a number from 1 to 65535, as in api.example.com:8443';
    return { ok: false, message };
  }
  const reading = readHostPattern(parts.host);
  return reading.ok ? { ...reading, port: parts.port } : reading;
}

/** Returns whether a host in the form of `normaliseHost` matches. */
export function matchesHost({ host: listed, isWildcard }: HostPattern, host: string): boolean {
  return isWildcard ? host.endsWith(`.${listed}`) : host === listed;
}

/** Returns whether every host that a pattern matches is also matched by another pattern. */
export function isCoveredBy(pattern: HostPattern, other: HostPattern): boolean {
  if (!pattern.isWildcard) return matchesHost(other, pattern.host);
  return other.isWildcard && (pattern.host === other.host || matchesHost(other, pattern.host));
}

/** Formats a pattern in its normalised form. */
export function writeHostPattern({ host, isWildcard }: HostPattern): string {
  return isWildcard ? `*.${host}` : host;
}

const example = 'such as api.example.com or *.example.com';

function noHost(named = ''): string {
  const instead = named === '' ? `one ${example}` : named;
  return `this is not a host but a URL or a path; write the host alone: ${instead}`;
}

/** Returns a specific message for a common mistake. */
function mistakeIn(text: string): string | null {
  if (text.includes('/')) return noHost(URL.parse(text)?.hostname);
  if (/^(?:[^:]*|\[.*\]):\d*$/.test(text)) {
    return 'a host is listed here without its port; remove the port';
  }
  if (text === '*' || text === '*.') {
    return `a * alone is no pattern; list hosts and domains ${example}`;
  }
  if (text.replace(/^\*\./, '').includes('*')) {
    return 'a * stands for subdomains and only at the start, as in *.example.com';
  }
  return null;
}

/** Stricter than a URL: an entry that lists several hosts would never match any. */
function listedHost(text: string): string | null {
  const host = normaliseHost(text);
  if (host === null || isIP(host) !== 0) return host;
  return host.split('.').every((label) => labelShape.test(label)) ? host : null;
}

const labelShape = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;

/** Splits off the port; an IPv6 address without brackets has none. Returns `null` for an invalid port. */
function splitPort(text: string): { host: string; port: number | null } | null {
  const [, host, digits] = /^([^:]*|\[.*\]):([^:/]*)$/.exec(text) ?? [];
  if (host === undefined || digits === undefined) return { host: text, port: null };
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  return port >= 1 && port <= 65_535 ? { host, port } : null;
}

/** A name has at most 253 characters; its labels have 1 to 63. */
function isName(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => /^[^.]{1,63}$/.test(label));
}
