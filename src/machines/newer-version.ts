/** A version as semver has it; what stands behind `+` says nothing of its order. */
const form =
  /^v?(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})(?:-([\dA-Za-z-]+(?:\.[\dA-Za-z-]+)*))?(?:\+[\dA-Za-z.-]+)?$/;

/** Most characters of a version that is one. */
const longest = 64;

/** Tells whether a version comes after another one in the order of semver 2.0; false where either is none. */
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

/** A release comes after its previews; of two previews the first part that differs counts. */
function isLater(one: readonly string[], other: readonly string[]): boolean {
  if (one.length === 0 || other.length === 0) return one.length === 0 && other.length > 0;
  for (const [index, part] of one.entries()) {
    const against = other[index];
    if (against === undefined) return true;
    if (part !== against) return isPartLater(part, against);
  }
  return false;
}

/** Numbers come before words. */
function isPartLater(part: string, against: string): boolean {
  const [isNumber, isAgainst] = [part, against].map((text) => /^\d+$/.test(text));
  if (isNumber !== isAgainst) return isAgainst === true;
  if (isNumber !== true) return part > against;
  return part.length === against.length ? part > against : part.length > against.length;
}
