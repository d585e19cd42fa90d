/** A semver version. The part after `+` does not affect the order. */
const form =
  /^v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*))?(?:\+[\dA-Za-z.-]+)?$/;

/** Maximum length of a version in characters. */
const longest = 64;

/** Returns true if a version follows another in semver 2.0 order; false if either is invalid. */
export function isNewer(candidate: string, than: string): boolean {
  const [one, other] = [partsOf(candidate), partsOf(than)];
  if (one === null || other === null) return false;
  for (const [index, part] of one.numbers.entries()) {
    const difference = part - (other.numbers[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return isLater(one.preview, other.preview);
}

function partsOf(version: string): { numbers: number[]; preview: string[] } | null {
  const found = version.length > longest ? null : form.exec(version);
  if (found === null) return null;
  const [, major, minor, patch, preview] = found;
  return {
    numbers: [Number(major), Number(minor), Number(patch)],
    preview: preview === undefined ? [] : preview.split('.'),
  };
}

/** A release follows its pre-releases. Two pre-releases are ordered by their first different part. */
function isLater(one: readonly string[], other: readonly string[]): boolean {
  if (one.length === 0 || other.length === 0) return one.length === 0 && other.length > 0;
  for (const [index, part] of one.entries()) {
    const against = other[index];
    if (against === undefined) return true;
    if (part !== against) return isPartLater(part, against);
  }
  return false;
}

/** Numeric parts precede alphanumeric ones. */
function isPartLater(part: string, against: string): boolean {
  const [isNumber, isAgainst] = [part, against].map((text) => /^\d+$/.test(text));
  if (isNumber !== isAgainst) return isAgainst === true;
  if (isNumber !== true) return part > against;
  return part.length === against.length ? part > against : part.length > against.length;
}
