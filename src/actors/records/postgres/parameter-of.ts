/** Serialises rows as JSON for PostgreSQL; lone surrogates become the replacement character. */
export function parameterOf(rows: readonly object[]): string {
  return JSON.stringify(rows, (name, value: unknown) =>
    typeof value === 'string' && name !== 'id' ? value.toWellFormed() : value,
  );
}
