/** Reads CSV (RFC 4180) whose first line names the columns into one object a row. */
export function parseCsv(text) {
  const [columns = [], ...rows] = records(text);
  return {
    columns,
    rows: rows.map((fields) =>
      Object.fromEntries(columns.map((column, index) => [column, fields[index] ?? ''])),
    ),
  };
}

/** Writes rows as CSV; a field with a comma, a quote or a line break is quoted. */
export function formatCsv({ columns, rows }) {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines.map((fields) => `${fields.map(quote).join(',')}\n`).join('');
}

function quote(field) {
  return /[",\r\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field;
}

function records(text) {
  const found = [];
  let record = [];
  // A field, quoted or plain, and what ends it.
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/gy;
  while (pattern.lastIndex < text.length || record.length > 0) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (!match) throw new Error(`the CSV is broken near character ${at}`);
    record.push(match[1]?.replaceAll('""', '"') ?? match[2]);
    if (match[3] !== ',') {
      found.push(record);
      record = [];
    }
  }
  return found;
}
