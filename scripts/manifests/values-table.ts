/** A schema of values, as far as the table shows it. */
export interface ValueSchema {
  description?: string;
  properties?: Record<string, ValueSchema>;
}

/** Returns the Markdown table of all values of a chart, with their defaults. */
export function valuesTable(schema: ValueSchema, defaults: Record<string, unknown>): string {
  const rows = rowsOf(schema, defaults, '');
  return ['| Value | Default | Meaning |', '|---|---|---|', ...rows, ''].join('\n');
}

function rowsOf(schema: ValueSchema, value: unknown, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const own = (value as Record<string, unknown> | undefined)?.[name];
    const key = path === '' ? name : `${path}.${name}`;
    if (child.properties !== undefined) return rowsOf(child, own, key);
    return own === undefined
      ? []
      : [`| \`${key}\` | \`${JSON.stringify(own)}\` | ${child.description} |`];
  });
}
