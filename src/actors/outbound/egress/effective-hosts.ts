import {
  type HostEntry,
  type HostPattern,
  matchesHost,
  normaliseHost,
  readHostEntry,
  readHostPattern,
  writeHostPattern,
} from './host-pattern.ts';

/** A host named by a setting, such as an issuer's; `source` is the path of the setting, such as `auth.providers.0`. */
export interface DerivedEndpoint {
  host: string;
  port: number;
  source: string;
  /** False if its address is not trusted, such as a host named by an issuer; true by default. */
  mayBePrivate?: boolean;
  /** The skill that declares the host: for its own scripts only, never private. Absent for the daemon's own hosts. */
  skill?: string;
}

/** Who may reach a host: everybody, the scripts of the declaring skill, or only the daemon. */
export type OpenTo = 'everybody' | 'skill' | 'daemon';

/** An effective allowlist entry: a host or pattern, its only port (`null` for any), its users and its setting. */
export interface EffectiveHost {
  host: string;
  port: number | null;
  source: string;
  openTo: OpenTo;
}

/** Hosts listed under `egress`, open to everybody. */
export interface ListedHosts {
  /** `egress.allowed_domains`. */
  domains: readonly string[];
  /** `egress.allowed_private`: allowed even at private addresses. */
  private: readonly string[];
}

/** A requested destination; its host is in the form of `normaliseHost`. */
export interface Place {
  host: string;
  port: number;
  /** True for a tunnel, whose traffic cannot be inspected. */
  isTunnel: boolean;
}

/** The effective allowlist. */
export interface EffectiveHosts {
  readonly entries: readonly EffectiveHost[];
  /**
   * True for hosts listed under `egress`, and for hosts declared by the requesting script's skill; `skill` is `null`
   * for none.
   */
  lists(place: Place, skill: string | null): boolean;
  /** True for a host named by another setting; only the daemon itself may reach it. */
  derives(host: string, port: number): boolean;
  /** True if `egress.allowed_private` lists this host and port. */
  listsPrivate(host: string, port: number): boolean;
  /** True if an operator's setting names this host and port, regardless of its address. */
  derivesPrivate(host: string, port: number): boolean;
  /** Adds a host for the daemon; an existing entry is not changed. Throws an Error for a pattern or an invalid host. */
  add(endpoint: DerivedEndpoint): void;
}

/** Allowed tunnel ports for a host that is listed without a port. */
const tunnelPorts: readonly number[] = [443, 80];

/**
 * Combines listed hosts with hosts named by other settings, each with its source and users (docs/contract/egress.md).
 * Throws an Error that names an invalid entry.
 */
export function effectiveHosts(
  listed: ListedHosts,
  endpoints: readonly DerivedEndpoint[],
): EffectiveHosts {
  const domains = readEntries('egress.allowed_domains', listed.domains);
  const privates = readEntries('egress.allowed_private', listed.private);
  const skills = endpoints.flatMap(({ skill, ...endpoint }) =>
    skill === undefined ? [] : [{ skill, ...entryOf(endpoint) }],
  );
  const derived = derivedHosts(endpoints.filter(({ skill }) => skill === undefined));
  const everybody = [...domains, ...privates];
  return {
    get entries() {
      return [
        ...everybody.map((entry) => shown(entry, 'everybody')),
        ...skills.map((entry) => shown(entry, 'skill')),
        ...derived.entries(),
      ];
    },
    lists: (place, skill) =>
      everybody.some((entry) => covers(entry, place)) ||
      (skill !== null && skills.some((entry) => entry.skill === skill && covers(entry, place))),
    derives: derived.has,
    listsPrivate: (host, port) =>
      privates.some((entry) => covers(entry, { host, port, isTunnel: false })),
    derivesPrivate: derived.mayBePrivate,
    add: derived.add,
  };
}

/** Parses host patterns. Throws an Error that names the path of the first invalid one. */
export function readPatterns(path: string, texts: readonly string[]): HostPattern[] {
  return texts.map((text, index) => readPattern(`${path}.${index}`, text));
}

/** Returns a function that tests a host against the patterns; an empty list matches nothing. */
export function matcherOf(patterns: readonly HostPattern[]): (host: string) => boolean {
  return (host) => patterns.some((pattern) => matchesHost(pattern, host));
}

interface SourcedEntry extends HostEntry {
  source: string;
}

function readEntries(path: string, texts: readonly string[]): SourcedEntry[] {
  return texts.map((text, index) => {
    const source = `${path}.${index}`;
    const read = readHostEntry(text);
    if (!read.ok) throw unreadable(source, text, read.message);
    return { pattern: read.pattern, port: read.port, source };
  });
}

function readPattern(source: string, text: string): HostPattern {
  const read = readHostPattern(text);
  if (!read.ok) throw unreadable(source, text, read.message);
  return read.pattern;
}

function unreadable(source: string, text: string, message: string): Error {
  return new Error(`${source}: ${JSON.stringify(text)}: ${message}`);
}

function entryOf({ host, port, source }: DerivedEndpoint): SourcedEntry {
  return { pattern: readPattern(source, host), port, source };
}

function covers({ pattern, port }: HostEntry, place: Place): boolean {
  if (!matchesHost(pattern, place.host)) return false;
  if (port !== null) return port === place.port;
  return !place.isTunnel || tunnelPorts.includes(place.port);
}

function shown({ pattern, port, source }: SourcedEntry, openTo: OpenTo): EffectiveHost {
  return { host: writeHostPattern(pattern), port, source, openTo };
}

/** Hosts named by the operator's settings, and hosts that issuers have named since. */
function derivedHosts(endpoints: readonly DerivedEndpoint[]) {
  const known = new Map<string, EffectiveHost & { mayBePrivate: boolean }>();
  const add = ({ host, port, source, mayBePrivate = true }: DerivedEndpoint): void => {
    // A host for the daemon must be a single host, not a pattern.
    const name = host.includes('*') ? null : normaliseHost(host);
    if (name === null) throw new Error(`${source}: ${JSON.stringify(host)} is no host`);
    const place = placeOf(name, port);
    const before = known.get(place);
    if (before?.mayBePrivate === true || (before !== undefined && !mayBePrivate)) return;
    known.set(place, { host: name, port, source, openTo: 'daemon', mayBePrivate });
  };
  for (const endpoint of endpoints) add(endpoint);
  return {
    add,
    entries: (): EffectiveHost[] =>
      [...known.values()].map(({ mayBePrivate: _, ...entry }) => entry),
    has: (host: string, port: number) => known.has(placeOf(host, port)),
    mayBePrivate: (host: string, port: number) =>
      known.get(placeOf(host, port))?.mayBePrivate === true,
  };
}

function placeOf(host: string, port: number): string {
  return `${host} ${port}`;
}
