import { createHash } from 'node:crypto';

/** Tool names that every provider accepts: a letter or `_`, then up to 63 letters, digits, `_` or `-`. */
const taken = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Maps tool names to names in a provider's requests, and back. */
export interface WireNames {
  /** Returns a provider-compatible name for a tool; stable across turns. */
  toWire(tool: string): string;
  /**
   * Returns the tool for a name from a provider, after removing obvious artefacts: a trailing special token or a
   * leading `functions.`. A name that was never offered is returned unchanged.
   */
  fromWire(name: string): string;
}

/**
 * Maps tool names to names that every provider accepts. A valid name is unchanged; in any other, invalid characters are
 * replaced and a digest of the whole name is appended, so that no two tools share a name.
 */
export function wireNames(tools: Iterable<string>): WireNames {
  const originals = new Map([...tools].map((tool) => [wireName(tool), tool]));
  return {
    toWire: wireName,
    fromWire: (name) => originals.get(name) ?? originals.get(bareName(name)) ?? name,
  };
}

/** Removes special tokens and namespaces of a model's own format that its server left in the name. */
function bareName(name: string): string {
  return name.replace(/<\|.*$/s, '').replace(/^functions\./, '');
}

/** Digits of the digest: a collision needs sixteen equal digits and an equal prefix. */
const digits = 16;

function wireName(tool: string): string {
  if (taken.test(tool) && !looksMapped(tool)) return tool;
  const letters = mappedName(tool, /[^A-Za-z0-9_-]/gu, 62);
  return /^[A-Za-z_]/.test(letters) ? letters : `_${letters}`;
}

/** Replaces invalid characters of a name and appends a digest of the whole. */
export function mappedName(name: string, refused: RegExp, longest: number): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, digits);
  return `${name.replaceAll(refused, '_').slice(0, longest - digits)}_${digest}`;
}

/** Returns whether a name looks like a mapped name; such a name is mapped as well. */
export function looksMapped(name: string): boolean {
  return /_[0-9a-f]{16}$/.test(name);
}
