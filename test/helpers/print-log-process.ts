import pg from 'pg';

// Prints the log of an agent in PostgreSQL, given the address of its database.
const client = new pg.Client({ connectionString: process.argv[2] });
await client.connect();
const { rows } = await client.query<{ text: string }>(
  'SELECT text FROM holdpoint.audit_lines ORDER BY line',
);
process.stdout.write(rows.map(({ text }) => `${text}\n`).join(''));
await client.end();
