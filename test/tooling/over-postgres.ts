/** The tests of the black-box suite that ask most of a store: they run over both in every run of the tests. */
const ofTheStore = [
  'a2a/story',
  'caller-gone',
  'decision-race',
  'decisions',
  'deferral',
  'sessions',
  'state-history',
  'task-list',
  'task-ownership',
];

/**
 * Names the tests whose agents keep their tasks in PostgreSQL: those of the store, or the whole black-box suite where
 * `HOLDPOINT_TEST_STORE` says `postgres` (`npm run test:postgres`).
 */
export function overPostgres(): string[] {
  if (process.env['HOLDPOINT_TEST_STORE'] === 'postgres') return ['test/conformance/**/*.test.ts'];
  return ofTheStore.map((name) => `test/conformance/${name}.test.ts`);
}
