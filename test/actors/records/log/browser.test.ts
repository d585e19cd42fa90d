import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { VerifyOptions } from '../../../../src/actors/records/log/verdict.ts';
import { verifyChain } from '../../../../src/actors/records/log/verify-chain.ts';
import { webKeyRing, webSha256Hex } from '../../../../src/actors/records/log/web-crypto.ts';
import { checkpointedLog, testKey } from './log-of.ts';
import { verifyText } from './verify-text.ts';

const folder = join(import.meta.dirname, '../../../../src/actors/records/log');
const page = join(import.meta.dirname, '../../../../docs/audit-log.md');
const own = testKey('service-audit-v1', 1);

/** What a module and all it imports need besides each other, types left aside. */
async function needsOf(start: string): Promise<{ packages: string[]; nodeWords: string[] }> {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const nodeWords: string[] = [];
  const visit = async (path: string): Promise<void> => {
    if (seen.has(path)) return;
    seen.add(path);
    const text = await readFile(path, 'utf8');
    if (/\b(Buffer|process|require|__dirname|setImmediate)\b/.test(withoutComments(text))) {
      nodeWords.push(path);
    }
    const imports = text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']+)'/gms);
    for (const [, name = ''] of imports) {
      if (name.startsWith('.')) await visit(join(dirname(path), name));
      else packages.add(name);
    }
  };
  await visit(start);
  return { packages: [...packages].toSorted(), nodeWords };
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\/|\/\/[^\n]*/gs, '');
}

describe('the verifier in a browser', () => {
  it.each(['verifier.ts', 'verify-chain.ts', 'web-crypto.ts', 'public-keys.ts'])(
    'uses no Node API: %s',
    async (name) => {
      const { packages, nodeWords } = await needsOf(join(folder, name));
      expect(packages.filter((needed) => needed !== 'canonicalize')).toEqual([]);
      expect(nodeWords).toEqual([]);
    },
  );

  it('is detected if it uses Node', async () => {
    const { packages } = await needsOf(join(folder, 'verify-files.ts'));
    expect(packages).toEqual(['canonicalize', 'node:crypto', 'node:fs']);
  });

  async function inBrowser(log: string, options: Omit<VerifyOptions, 'keys'> = {}) {
    async function* chunks() {
      yield new TextEncoder().encode(log);
    }
    const keys = await webKeyRing({ keys: [own.publicKey] });
    const file = { name: '1.ndjson', chunks: chunks() };
    return verifyChain([file], webSha256Hex, { ...options, keys });
  }

  it('has the same verdicts as in Node', async () => {
    const { lines, head } = checkpointedLog(6, own.signer);
    const logs = [
      lines,
      lines.with(2, lines[2]!.replace('"n":2', '"n":7')),
      lines.with(3, lines[3]!.replace('service-audit-v1', 'unknown')),
      lines.with(4, lines[4]!.replace(/"sig":"[^"]+",/, '')),
      lines.toSpliced(5, 1),
      lines.slice(0, 4),
    ].map((some) => some.join(''));
    const options = { kept: { count: 7, head }, requireSigned: true };
    const expected = await Promise.all(
      logs.map((log) => verifyText([log], { ...options, keys: [own.publicKey] })),
    );
    expect(await Promise.all(logs.map((log) => inBrowser(log, options)))).toStrictEqual(expected);
    expect(expected.map((verdict) => (verdict.ok ? 'ok' : verdict.line))).toEqual([
      'ok',
      3,
      4,
      5,
      6,
      5,
    ]);
  });

  it('verifies the vectors of the page', async () => {
    const text = await readFile(page, 'utf8');
    const [, log, jwks] = /### Signed.*?```ndjson\n(.*?)```.*?```json\n(.*?)\n```/s.exec(text)!;
    const keys = await webKeyRing(JSON.parse(jwks!));
    async function* chunks() {
      yield log!;
    }
    const files = [{ name: 'page', chunks: chunks() }];
    expect(await verifyChain(files, webSha256Hex, { keys, requireSigned: true })).toMatchObject({
      ok: true,
      events: 3,
      signed: 3,
    });
  });
});
