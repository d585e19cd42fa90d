import type { RE2JS } from 're2js';

/** Returns whether a pattern can match somewhere without taking a character, as `a*` and `\b` can. */
export function matchesNothing(pattern: RE2JS): boolean {
  return probes.some((probe) => {
    const matcher = pattern.matcher(probe);
    while (matcher.find()) if (matcher.start() === matcher.end()) return true;
    return false;
  });
}

/** An empty match depends on the two characters around it alone: a word character, a line end, another or none. */
const probes = ['', 'a', '\n', ' '].flatMap((first) =>
  ['', 'a', '\n', ' '].map((second) => first + second),
);
