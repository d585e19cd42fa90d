import {
  type HostPattern,
  matchesHost,
  normaliseHost,
  readHostPattern,
  writeHostPattern,
} from './host-pattern.ts';

/** A host that a setting names, such as an issuer's; `source` is the setting's path, such as `auth.providers.0`. */
export interface DerivedEndpoint {
  host: string;
  port: number;
  source: string;
  /** False when nobody vouches for its address, as with a host a skill asks for; true unless given. */
  mayBePrivate?: boolean;
}

/** What may be reached: a host or pattern, the only port (`null`: any), and the setting that says so. */
export interface EffectiveHost {
  host: string;
  port: number | null;
  source: string;
}

/** The allowlist as it is in effect; hosts are asked for in the form of `normaliseHost`. */
export interface EffectiveHosts {
  readonly entries: readonly EffectiveHost[];
  /** True for what `egress.allowed_domains` lists. */
  lists(host: string): boolean;
  /** True for what another setting names. */
  derives(host: string, port: number): boolean;
  /** True when an operator named this host and port, whatever its address. */
  mayBePrivate(host: string, port: number): boolean;
  /** Lists one more host; one that is listed already stays as it is. Throws an Error for a pattern and what is no host. */
  add(endpoint: DerivedEndpoint): void;
}

/**
 * Puts the allowlist of the configuration and the hosts that other settings name together, each with
 * its source (contract section 11). Throws an Error that names the entry that cannot be read.
 */
export function effectiveHosts(
  allowedDomains: readonly string[],
  endpoints: readonly DerivedEndpoint[],
): EffectiveHosts {
  const patterns = readPatterns('egress.allowed_domains', allowedDomains);
  const listed = patterns.map((pattern, index) => ({
    host: writeHostPattern(pattern),
    port: null,
    source: `egress.allowed_domains.${index}`,
  }));
  const derived = new Map<string, EffectiveHost & { mayBePrivate: boolean }>();
  const below: { pattern: HostPattern; port: number }[] = [];
  const list = ({ host, port, source, mayBePrivate = true }: DerivedEndpoint): void => {
    if (host.startsWith('*.')) {
      below.push(...readPatterns(source, [host]).map((pattern) => ({ pattern, port })));
      derived.set(placeOf(host, port), { host, port, source, mayBePrivate: false });
      return;
    }
    const name = normaliseHost(host);
    if (name === null) throw new Error(`${source}: ${JSON.stringify(host)} is no host`);
    const place = placeOf(name, port);
    const known = derived.get(place);
    if (known?.mayBePrivate === true || (known !== undefined && !mayBePrivate)) return;
    derived.set(place, { host: name, port, source, mayBePrivate });
  };
  for (const endpoint of endpoints) list(endpoint);
  return {
    get entries() {
      return [...listed, ...[...derived.values()].map(({ mayBePrivate: _, ...entry }) => entry)];
    },
    lists: matcherOf(patterns),
    derives: (host, port) =>
      derived.has(placeOf(host, port)) ||
      below.some((entry) => entry.port === port && matchesHost(entry.pattern, host)),
    mayBePrivate: (host, port) => derived.get(placeOf(host, port))?.mayBePrivate === true,
    add(endpoint) {
      const { host, source } = endpoint;
      // Whoever is not the operator names one host at a time.
      if (host.includes('*')) throw new Error(`${source}: ${JSON.stringify(host)} is no host`);
      list(endpoint);
    },
  };
}

/** Reads host patterns. Throws an Error that names the first that cannot be read, by its path in the settings. */
export function readPatterns(path: string, texts: readonly string[]): HostPattern[] {
  return texts.map((text, index) => {
    const read = readHostPattern(text);
    if (!read.ok) throw new Error(`${path}.${index}: ${read.message}`);
    return read.pattern;
  });
}

/** Says of a host whether any of the patterns matches; an empty list never does. */
export function matcherOf(patterns: readonly HostPattern[]): (host: string) => boolean {
  return (host) => patterns.some((pattern) => matchesHost(pattern, host));
}

function placeOf(host: string, port: number): string {
  return `${host} ${port}`;
}
