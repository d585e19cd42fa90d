/** Writes rows as JSON that PostgreSQL reads: half of a surrogate pair becomes the character that stands for what cannot be read. */
export function parameterOf(rows: readonly object[]): string {
  return JSON.stringify(rows, (name, value: unknown) =>
    typeof value === 'string' && name !== 'id' ? value.toWellFormed() : value,
  );
}
