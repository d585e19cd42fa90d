import type { RE2JS } from 're2js';

/** Returns whether a pattern can match the empty string somewhere, such as `a*` and `\b`. */
export function matchesNothing(pattern: RE2JS): boolean {
  return probes.some((probe) => {
    const matcher = pattern.matcher(probe);
    while (matcher.find()) if (matcher.start() === matcher.end()) return true;
    return false;
  });
}

/** An empty match depends only on the two adjacent characters: word character, line end, other character or none. */
const probes = ['', 'a', '\n', ' '].flatMap((first) =>
  ['', 'a', '\n', ' '].map((second) => first + second),
);
