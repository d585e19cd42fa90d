import {
  GENESIS,
  type KeyRing,
  linesWithHash,
  type PublicKey,
  readPublicKeys,
  verifyChain,
  verifyReceipts,
  webKeyRing,
  webSha256Hex,
} from '../../actors/records/log/verifier.ts';

/** The files of a bundle as texts, by path. */
export type BundleFiles = Readonly<Record<string, string>>;

/** `bundle.json` (docs/audit-log.md). */
export interface Manifest {
  created_at: string;
  from: string | null;
  to: string | null;
  task_id: string | null;
  agents: BundledAgent[];
}

export interface BundledAgent {
  agent_id: string;
  folder: string;
  runs: [first: number, count: number][];
  head: string | null;
  continued_from: { line: number; hash: string } | null;
  verdict: { ok: boolean; sentence: string; head: string };
}

/** The result of a part of a bundle: `open` for one that is intact, but whose lines are not all signed. */
export interface PartResult {
  agent: string;
  /** Two agents may have one id, but not one folder; empty for the bundle itself. */
  folder: string;
  part: string;
  state: 'ok' | 'open' | 'broken';
  says: string;
  /** The lines of the part and those without a signature, if it has lines. */
  count?: { lines: number; unsigned: number };
}

type Finding = Omit<PartResult, 'agent' | 'folder' | 'part' | 'state'>;

/** Verifies the parts of a bundle in order. Throws for a bundle that cannot be read. */
export async function* verifyBundle(
  { agents }: Manifest,
  files: BundleFiles,
): AsyncGenerator<PartResult> {
  if (agents.length === 0) throw new Error('the bundle lists no agent');
  for (const agent of agents) {
    const { agent_id: id, folder, verdict } = agent;
    const { keys } = readPublicKeys(files[`${folder}/keys.json`] ?? '');
    const ring = keys.length === 0 ? null : await webKeyRing({ keys });
    const log = files[`${folder}/log.ndjson`] ?? '';
    const parts: Record<string, () => Promise<Finding>> = {
      lines: () => verifyLines(agent, log, ring),
      policies: () => verifyPolicies(files, folder, ring),
      receipts: () => verifyBundled(files[`${folder}/receipts.json`] ?? '', log, ring),
      'whole log, when the bundle was made': async () => {
        if (!verdict.ok) throw new Error(verdict.sentence);
        const { sentence, head } = verdict;
        return { says: `reported by the bundle, not checked: ${sentence}, last hash ${head}` };
      },
      keys: async () => ({ says: namesOf(keys) }),
    };
    for (const [part, verify] of Object.entries(parts)) {
      yield { agent: id, folder, part, ...(await resultOf(verify)) };
    }
  }
}

async function resultOf(
  verify: () => Promise<Finding>,
): Promise<Omit<PartResult, 'agent' | 'folder' | 'part'>> {
  try {
    const found = await verify();
    return { state: (found.count?.unsigned ?? 0) > 0 ? 'open' : 'ok', ...found };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { state: 'broken', says: `broken: ${reason}` };
  }
}

function namesOf(keys: readonly PublicKey[]): string {
  return keys.map(({ kid, x }) => `${kid}: ${x}`).join(', ') || 'none';
}

async function verifyLines(
  { runs, head, continued_from: from }: BundledAgent,
  text: string,
  keys: KeyRing | null,
): Promise<Finding> {
  const lines = linesOf(text);
  let at = 0;
  let [signed, links] = [0, 0];
  let last: string | null = null;
  for (const [first, count] of runs) {
    const own = lines.slice(at, at + count);
    const before = first === 1 ? GENESIS : first === from?.line ? from.hash : null;
    const verdict = await verifyRun(own, { first, before, keys });
    if (own.length < count) throw new Error(`line ${first + own.length}: the line is missing`);
    signed += verdict.signed;
    links += before === null ? count - 1 : count;
    at += count;
    last = verdict.head;
  }
  if (at !== lines.length) throw new Error(`${lines.length - at} lines more than the bundle lists`);
  if (last !== head) throw new Error('the last line does not have the hash that the bundle lists');
  const checked =
    keys === null ? `${signed} signed, no keys to check them` : `${signed} signatures valid`;
  const count = {
    lines: lines.length,
    unsigned: keys === null ? lines.length : lines.length - signed,
  };
  return { says: `${lines.length} lines, ${links} links of the chain intact, ${checked}`, count };
}

async function verifyPolicies(
  files: BundleFiles,
  folder: string,
  keys: KeyRing | null,
): Promise<Finding> {
  const lines = linesOf(files[`${folder}/policies.ndjson`] ?? '');
  let signed = 0;
  for (const [index, line] of lines.entries()) {
    signed += (await verifyRun([line], { first: index + 1, before: null, keys })).signed;
  }
  let texts = 0;
  for (const [path, text] of Object.entries(files)) {
    if (!path.startsWith(`${folder}/policies/`)) continue;
    texts += 1;
    const [, digest] = /([0-9a-f]{64})\.json$/.exec(path) ?? [];
    if ((await webSha256Hex(encoder.encode(text))) !== digest) {
      throw new Error(`${path} does not have the digest in its name`);
    }
  }
  const unsigned = keys === null ? 0 : lines.length - signed;
  const open = unsigned === 0 ? '' : `, ${unsigned} not signed`;
  const count = { lines: lines.length, unsigned };
  return { says: `${lines.length} loaded, ${texts} with its text${open}`, count };
}

async function verifyBundled(text: string, log: string, keys: KeyRing | null): Promise<Finding> {
  const receipts = JSON.parse(text) as { task_id: string; call_id: string; jws: string }[];
  const ring = keys ?? (await webKeyRing({ keys: [] }));
  const verdicts = await verifyReceipts(
    receipts.map(({ jws }) => jws),
    {
      keys: ring,
      findLines: (hashes) => linesWithHash(new Blob([log]).stream(), hashes, webSha256Hex),
    },
  );
  for (const [index, verdict] of verdicts.entries()) {
    const { task_id: task, call_id: call } = receipts[index] ?? {};
    if (!verdict.ok) throw new Error(`call ${call} of task ${task}: ${verdict.reason}`);
    if (verdict.claims['task_id'] !== task || verdict.claims['call_id'] !== call) {
      throw new Error(`call ${call} of task ${task}: the receipt is of another call`);
    }
  }
  return { says: `${receipts.length} valid` };
}

/** Returns the verdict on a bundle from its parts: a class and a sentence. */
export function verdictOf(parts: readonly PartResult[]): { tone: string; sentence: string } {
  if (parts.some(({ state }) => state === 'broken')) {
    return { tone: 'bad', sentence: 'The bundle is broken.' };
  }
  const logs = parts.filter(({ part }) => part === 'lines');
  const whole = logs.filter(({ count }) => count?.lines === count?.unsigned);
  const partial = parts.flatMap(({ agent, part, state, count }) =>
    state === 'open' && count !== undefined && count.unsigned < count.lines
      ? [
          `${count.unsigned} of ${count.lines} ${part === 'lines' ? 'lines' : 'loaded policies'} of ${agent} are not signed`,
        ]
      : [],
  );
  const unsigned =
    whole.length === 0
      ? []
      : [
          `${whole.length} of ${logs.length} ${whole.length === 1 ? 'agents is' : 'agents are'} not signed, so ${whole.length === 1 ? 'its log' : 'their logs'} could have been rewritten`,
        ];
  const open = [...unsigned, ...partial];
  return open.length === 0
    ? { tone: 'good', sentence: 'The bundle is intact.' }
    : {
        tone: 'open',
        sentence: `The bundle is intact, but not all of it is signed: ${open.join('; ')}.`,
      };
}

const encoder = new TextEncoder();

/** Verifies consecutive lines. Without `before`, the hash of the line before them, the first link is not verified. */
async function verifyRun(
  lines: readonly string[],
  { first, before, keys }: { first: number; before: string | null; keys: KeyRing | null },
): Promise<{ signed: number; head: string }> {
  async function* chunks() {
    for (const line of lines) yield `${line}\n`;
  }
  const continuedFrom = before ?? linkOf(lines[0]);
  const verdict = await verifyChain([{ name: 'log', chunks: chunks() }], webSha256Hex, {
    ...{ keys, continuedFrom },
  });
  if (verdict.ok) return verdict;
  throw new Error(`line ${verdict.line + first - 1}: ${verdict.reason}`);
}

/** Returns the link in a line to the line before it. */
function linkOf(line = '{}'): string {
  try {
    const { prev_hash: link } = Object(JSON.parse(line)) as { prev_hash?: unknown };
    return typeof link === 'string' ? link : GENESIS;
  } catch {
    return GENESIS;
  }
}

export function linesOf(text: string): string[] {
  if (text === '') return [];
  if (!text.endsWith('\n')) throw new Error('the newline at the end is missing');
  return text.slice(0, -1).split('\n');
}
