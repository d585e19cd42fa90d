import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { AuditEvent } from '../../../../src/actors/ports/audit-event.ts';
import {
  chainLine,
  checkpoint,
  GENESIS,
  type LineSigner,
  lineSigner,
  type PublicKey,
  publicKey,
} from '../../../../src/actors/records/log/audit.ts';

/** A key of 32 times the same byte, under a name. */
export function testKey(kid: string, byte: number): { signer: LineSigner; publicKey: PublicKey } {
  return keyOf(kid, Buffer.alloc(32, byte));
}

/** The key of the first test vector of RFC 8032, which docs/audit-log.md signs its lines with. */
export const vectorSeed = '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60';

/** A key from the 32 bytes of its seed. */
export function keyOf(kid: string, seed: Uint8Array) {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { signer: lineSigner(kid, privateKey), publicKey: publicKey(kid, x ?? ''), privateKey };
}

/** The lines, with their newlines, that some events make; `head` is the hash of the last. */
export function logOf(
  events: readonly AuditEvent[],
  previousHash = GENESIS,
  signer: LineSigner | null = null,
): { lines: string[]; head: string } {
  let head = previousHash;
  const lines: string[] = [];
  for (const event of events) {
    const { line, hash } = chainLine(event, head, signer);
    lines.push(`${line}\n`);
    head = hash;
  }
  return { lines, head };
}

/** Some events of one task, distinguished by `seq` and `fields.n`. */
export function events(count: number, task = 't-1'): AuditEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    event: 'tool_exec',
    ts: '2026-07-01T09:00:00.000Z',
    seq: index + 1,
    task_id: task,
    fields: { n: index, note: 'zu spät 🧾' },
  }));
}

/** A log of `count` events that ends in a checkpoint. */
export function checkpointedLog(
  count: number,
  signer: LineSigner | null = null,
): { lines: string[]; head: string } {
  const { lines, head } = logOf(events(count), GENESIS, signer);
  const standing = checkpoint('2026-07-01T09:05:00.000Z', { count, head });
  const last = logOf([standing], head, signer);
  return { lines: [...lines, ...last.lines], head: last.head };
}
