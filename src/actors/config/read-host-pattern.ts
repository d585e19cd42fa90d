import ipaddr from 'ipaddr.js';
import { normaliseHost, splitPort } from '../egress/egress.ts';

/** A host, or with `isWildcard` everything strictly below it (document 2 section 2.5). */
export interface HostPattern {
  /** As a URL has it: lower case, ASCII, without a dot at its end; an IPv6 address without brackets. */
  host: string;
  isWildcard: boolean;
}

/** What a text comes to: a pattern, or one sentence that says why it is none. */
export type HostPatternReading =
  | { ok: true; pattern: HostPattern }
  | { ok: false; message: string };

const example = 'such as api.example.com or *.example.com';

/** Reads a host pattern as an operator writes it. */
export function readHostPattern(text: string): HostPatternReading {
  const message = mistakeIn(text);
  if (message !== null) return { ok: false, message };
  const isWildcard = text.startsWith('*.');
  const host = hostIn(isWildcard ? text.slice(2) : text);
  if (host === null) return { ok: false, message: `this is not a host; write one ${example}` };
  if (isWildcard && ipaddr.isValid(host)) {
    return { ok: false, message: 'an address has no subdomains; remove the *.' };
  }
  return { ok: true, pattern: { host, isWildcard } };
}

/** What an entry of a list comes to: a pattern and its only port (`null`: any), or why it is none. */
export type HostEntryReading =
  | { ok: true; pattern: HostPattern; port: number | null }
  | { ok: false; message: string };

/** Reads a host pattern that may have a port, such as `api.example.com:8443` or `[::1]:9000`. */
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

/** Tells whether all that one pattern matches is matched by another, too. */
export function isCoveredBy(pattern: HostPattern, other: HostPattern): boolean {
  if (!other.isWildcard) return !pattern.isWildcard && pattern.host === other.host;
  if (pattern.isWildcard && pattern.host === other.host) return true;
  return !ipaddr.isValid(pattern.host) && pattern.host.endsWith(`.${other.host}`);
}

function noHost(named = ''): string {
  const instead = named === '' ? `one ${example}` : named;
  return `this is not a host but a URL or a path; write the host alone: ${instead}`;
}

/** The mistakes that deserve words of their own. */
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

/** Stricter than what a URL takes: of several hosts in one entry none would ever match. */
function hostIn(text: string): string | null {
  const host = normaliseHost(text);
  if (host === null || ipaddr.isValid(host)) return host;
  return host.split('.').every((label) => labelShape.test(label)) ? host : null;
}

const labelShape = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;
