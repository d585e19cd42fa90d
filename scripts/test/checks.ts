/** The npm scripts that `npm test` runs in parallel with the tests, the cheapest first. */
export const checks: readonly string[] = [
  'format:check',
  'skills:check',
  'house:check',
  'rooms:check',
  'lint',
  'arrows',
  'types',
  'configuration:check',
  'errors:check',
  'language',
  'statecharts:check',
  'knip',
];
