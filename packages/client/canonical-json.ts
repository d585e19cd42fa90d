/**
 * Returns the RFC 8785 form of plain JSON. Throws TypeError with the path of a value that JSON would change or drop, and
 * for names that reach a prototype.
 */
export function canonicalJson(value: unknown, path: string): string {
  if (typeof value === 'string' && value.isWellFormed()) return JSON.stringify(value);
  if (typeof value === 'number' && isExact(value)) return JSON.stringify(value);
  if (value === null || typeof value === 'boolean') return JSON.stringify(value);
  if (Array.isArray(value)) {
    const items = Array.from(value, (item, index) => canonicalJson(item, `${path}[${index}]`));
    return `[${items.join()}]`;
  }
  if (!isPlain(value)) throw new TypeError(`${path} is not plain JSON`);
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  const members = names.toSorted().map((name) => {
    const at = `${path}.${name}`;
    if (!name.isWellFormed() || name === '__proto__' || isPrototypeOf(name, value[name])) {
      throw new TypeError(`${at} is a name that is not allowed`);
    }
    return `${JSON.stringify(name)}:${canonicalJson(value[name], at)}`;
  });
  return `{${members.join()}}`;
}

/** Returns the `args_sha256` of a call: the SHA-256 of `{tool, args}` in RFC 8785 form. Throws TypeError as canonicalJson does. */
export async function argsDigest(tool: string, args: Record<string, unknown>): Promise<string> {
  return sha256(canonicalJson({ tool, args }, 'call'));
}

/** Returns the lower-case hex SHA-256 of a string. */
export async function sha256(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Returns true for an object that is neither an array nor an instance of a class. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Objects of another realm have another Object.prototype.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Integers that a double may have rounded are not exact. */
function isExact(number: number): boolean {
  return Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number);
}

function isPrototypeOf(name: string, value: unknown): boolean {
  return name === 'constructor' && isPlain(value) && Object.hasOwn(value, 'prototype');
}
