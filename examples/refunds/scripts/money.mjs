/** Reads an amount such as `89.90` into cents, so that nothing is rounded on the way. */
export function toCents(amount) {
  const match = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(String(amount));
  if (!match) throw new Error(`"${amount}" is not an amount; write it like 89.90`);
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
}

/** Writes cents as an amount with two decimals. */
export function fromCents(cents) {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}
