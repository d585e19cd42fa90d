import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditEvent } from '../src/actors/ports/audit-event.ts';
import {
  chainLine,
  GENESIS,
  type LineSigner,
  lineSigner,
  type PublicKeySet,
  publicKey,
  verifyFiles,
} from '../src/actors/records/log/audit.ts';
import type { Figure } from './figure.ts';

const rounds = 3;
const unsignedLines = 100_000;
const signedLines = 10_000;

const pair = generateKeyPairSync('ed25519');
const kid = 'service-audit-v1';
const keys: PublicKeySet = {
  keys: [publicKey(kid, pair.publicKey.export({ format: 'jwk' }).x ?? '')],
};

/** What a line of the log costs, and how fast a log is verified; in process, signatures on one key. */
export async function auditFigures(): Promise<Figure[]> {
  const signer = lineSigner(kid, pair.privateKey);
  const chained = medianOf(rounds, () => secondsOf(() => linesOf(unsignedLines, null)));
  const signed = medianOf(rounds, () => secondsOf(() => linesOf(signedLines, signer)));
  const plain = await verifying(linesOf(unsignedLines, null), null);
  const checked = await verifying(linesOf(signedLines, signer), keys);
  return [
    figure('lines chained, in memory', `${perSecond(unsignedLines, chained)} lines/s`, ''),
    figure('lines chained and signed, in memory', `${perSecond(signedLines, signed)} lines/s`, ''),
    figure(
      'verify, unsigned',
      `${(plain.bytes / 1e6 / plain.seconds).toFixed(0)} MB/s, ${perSecond(unsignedLines, plain.seconds)} lines/s`,
      '100 MB/s',
    ),
    figure('verify, signed', `${perSecond(signedLines, checked.seconds)} lines/s`, '9,000/s'),
  ];
}

/** A log of typical lines: the call of a tool within a task of a workflow. */
function linesOf(count: number, signer: LineSigner | null): string[] {
  let head = GENESIS;
  return Array.from({ length: count }, (_, index) => {
    const { line, hash } = chainLine(eventOf(index), head, signer);
    head = hash;
    return line;
  });
}

function eventOf(index: number): AuditEvent {
  return {
    event: 'tool_exec',
    ts: new Date(1_780_000_000_000 + index).toISOString(),
    seq: index + 1,
    correlation_id: 'c0ffee00c0ffee00',
    task_id: 'task-0001',
    entity_id: 'refunds',
    entity_type: 'agent',
    fields: { tool: 'issue_refund', phase: 'end', duration_ms: 12, args_size: 57, result_size: 80 },
  };
}

async function verifying(lines: string[], known: PublicKeySet | null) {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  const path = join(folder, 'audit.ndjson');
  const text = `${lines.join('\n')}\n`;
  writeFileSync(path, text);
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    const verdict = await verifyFiles([path], { keys: known });
    times.push((performance.now() - began) / 1_000);
    if (!verdict.ok) throw new Error(`the log does not verify: ${verdict.reason}`);
  }
  rmSync(folder, { recursive: true });
  return { bytes: Buffer.byteLength(text), seconds: middle(times) };
}

function secondsOf(work: () => unknown): number {
  const began = performance.now();
  work();
  return (performance.now() - began) / 1_000;
}

function medianOf(count: number, measured: () => number): number {
  return middle(Array.from({ length: count }, measured));
}

function middle(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[times.length >> 1] ?? Number.NaN;
}

function perSecond(count: number, seconds: number): string {
  return Math.round(count / seconds).toLocaleString('en');
}

function figure(what: string, measured: string, aim: string): Figure {
  return { what: `audit: ${what}`, measured, aim };
}
