import { sha256Hex } from '../../src/actors/records/log/node-crypto.ts';
import { verifyChain } from '../../src/actors/records/log/verify-chain.ts';
import type { PostgresServer } from './postgres-server.ts';
import type { AuditLine } from './test-agent.ts';

/** Reads the log of an agent from its database, oldest line first; rejects when it does not verify. */
export async function sharedLog(
  server: PostgresServer,
  database: string,
  schema = 'holdpoint',
): Promise<AuditLine[]> {
  const sql = `SELECT text FROM ${schema}.audit_lines ORDER BY line`;
  const texts = (await server.query(sql, [], database)).map(({ text }) => String(text));
  const chunks = (async function* () {
    for (const text of texts) yield Buffer.from(`${text}\n`);
  })();
  const verdict = await verifyChain([{ name: 'log', chunks }], sha256Hex, {});
  if (!verdict.ok) throw new Error(`the log does not verify: ${JSON.stringify(verdict)}`);
  return texts.map((text) => JSON.parse(text) as AuditLine);
}
