import { createHash } from 'node:crypto';

/** What every provider takes as the name of a tool: a letter or `_`, then up to 63 letters, digits, `_` or `-`. */
const taken = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The names of tools as they go over the wire of a provider, and back. */
export interface WireNames {
  /** The name of a tool as a provider takes it; the same for one tool in every turn. */
  toWire(tool: string): string;
  /**
   * The tool that a name from a provider means, past what certainly is no part of it: a special token behind it or
   * `functions.` before it. A name that was never offered is returned as it is.
   */
  fromWire(name: string): string;
}

/**
 * Maps the names of tools to names that every provider takes. One that they all take stays as it is; any other has what they
 * refuse replaced and a digest of the whole at its end, so that no two tools share a name.
 */
export function wireNames(tools: Iterable<string>): WireNames {
  const originals = new Map([...tools].map((tool) => [wireName(tool), tool]));
  return {
    toWire: wireName,
    fromWire: (name) => originals.get(name) ?? originals.get(bareName(name)) ?? name,
  };
}

/** Special tokens and namespaces of a model's own format, which its server has left in the name. */
function bareName(name: string): string {
  return name.replace(/<\|.*$/s, '').replace(/^functions\./, '');
}

/** Digits of the digest: two tools would have to share sixteen of them and the letters before. */
const digits = 16;

function wireName(tool: string): string {
  if (taken.test(tool) && !looksMapped(tool)) return tool;
  const letters = mappedName(tool, /[^A-Za-z0-9_-]/gu, 62);
  return /^[A-Za-z_]/.test(letters) ? letters : `_${letters}`;
}

/** Replaces what a name may not have, and puts a digest of the whole at its end. */
export function mappedName(name: string, refused: RegExp, longest: number): string {
  const digest = createHash('sha256').update(name).digest('hex').slice(0, digits);
  return `${name.replaceAll(refused, '_').slice(0, longest - digits)}_${digest}`;
}

/** Tells whether something bears the mapped name of another one; it is mapped as well. */
export function looksMapped(name: string): boolean {
  return /_[0-9a-f]{16}$/.test(name);
}
