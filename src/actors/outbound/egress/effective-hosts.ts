import {
  type HostEntry,
  type HostPattern,
  matchesHost,
  normaliseHost,
  readHostEntry,
  readHostPattern,
  writeHostPattern,
} from './host-pattern.ts';

/** A host that a setting names, such as an issuer's; `source` is the setting's path, such as `auth.providers.0`. */
export interface DerivedEndpoint {
  host: string;
  port: number;
  source: string;
  /** False when nobody vouches for its address, as with a host an issuer names; true unless given. */
  mayBePrivate?: boolean;
  /** The skill that declares it, for its own scripts alone and never private; left out for the daemon's own. */
  skill?: string;
}

/** Who may reach a host: everybody, the scripts of the skill that declares it, or the daemon itself. */
export type OpenTo = 'everybody' | 'skill' | 'daemon';

/** What may be reached and by whom: a host or pattern, the only port (`null`: any), and the setting that says so. */
export interface EffectiveHost {
  host: string;
  port: number | null;
  source: string;
  openTo: OpenTo;
}

/** What `egress` lists, each for everybody. */
export interface ListedHosts {
  /** `egress.allowed_domains`. */
  domains: readonly string[];
  /** `egress.allowed_private`: listed, and allowed to be private. */
  private: readonly string[];
}

/** A place that is asked for; its host is in the form of `normaliseHost`. */
export interface Place {
  host: string;
  port: number;
  /** True for a tunnel, in which nobody sees what is said. */
  isTunnel: boolean;
}

/** The allowlist as it is in effect. */
export interface EffectiveHosts {
  readonly entries: readonly EffectiveHost[];
  /** True for what `egress` lists, and for what the skill declares whose script asks; `null` for no skill. */
  lists(place: Place, skill: string | null): boolean;
  /** True for what another setting names, which is the daemon's own alone. */
  derives(host: string, port: number): boolean;
  /** True when `egress.allowed_private` lists this host at this port. */
  listsPrivate(host: string, port: number): boolean;
  /** True when a setting of the operator leads to this host and port, whatever its address. */
  derivesPrivate(host: string, port: number): boolean;
  /** Names one more host for the daemon; one that is named already stays as it is. Throws an Error for a pattern and what is no host. */
  add(endpoint: DerivedEndpoint): void;
}

/** The ports of a tunnel to a host that is listed without one. */
const tunnelPorts: readonly number[] = [443, 80];

/**
 * Puts what is listed and the hosts that other settings name together, each with its source and with whom it is open to
 * (docs/contract/egress.md). Throws an Error that names the entry that cannot be read.
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

/** Reads host patterns. Throws an Error that names the first that cannot be read, by its path in the settings. */
export function readPatterns(path: string, texts: readonly string[]): HostPattern[] {
  return texts.map((text, index) => readPattern(`${path}.${index}`, text));
}

/** Says of a host whether any of the patterns matches; an empty list never does. */
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

/** The hosts that the settings of the operator lead to, and those that an issuer has named since. */
function derivedHosts(endpoints: readonly DerivedEndpoint[]) {
  const known = new Map<string, EffectiveHost & { mayBePrivate: boolean }>();
  const add = ({ host, port, source, mayBePrivate = true }: DerivedEndpoint): void => {
    // Whoever names a host names one at a time.
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
