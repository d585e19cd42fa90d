import { type HashedLine, receiptClaims, webSha256Hex } from '../../actors/records/log/verifier.ts';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '../../machines/json.ts';
import { type ReceiptStory, receiptStory } from '../dashboard/views/receipts/receipt-story.ts';
import { type BundledAgent, type BundleFiles, linesOf } from './verify-bundle.ts';

/** A call in the lines of a bundle. */
export interface BundledCall {
  agent: string;
  story: ReceiptStory;
  /** True if each line that states the call, and that of its requester, has a signature. */
  isSigned: boolean;
  /** True if the call waits or runs at the last line. */
  isUnderWay: boolean;
  /** The signed receipt; `null` if the bundle has none. */
  jws: string | null;
  /** The text of the rule of each ruling, in their order; empty if the bundle lacks its policy. */
  rules: string[];
}

const encoder = new TextEncoder();

/** Returns the calls of an agent in a bundle, oldest first. Their lines state them, so calls without a receipt are included. */
export async function callsOf(
  { agent_id: agent, folder }: BundledAgent,
  files: BundleFiles,
): Promise<BundledCall[]> {
  const tasks = new Map<string, { lines: HashedLine[]; calls: Set<string> }>();
  for (const text of linesOf(files[`${folder}/log.ndjson`] ?? '')) {
    const line = parseJson(text);
    if (!isJsonObject(line) || typeof line['task_id'] !== 'string') continue;
    const task = tasks.get(line['task_id']) ?? { lines: [], calls: new Set() };
    tasks.set(line['task_id'], task);
    task.lines.push({ line, sha256: await webSha256Hex(encoder.encode(text)) });
    const call = memberOf(line['fields'], 'call_id');
    if (typeof call === 'string') task.calls.add(call);
  }
  const receipts = receiptsIn(files[`${folder}/receipts.json`] ?? '[]');
  const policies = policiesIn(files, folder);
  return [...tasks].flatMap(([id, { lines, calls }]) => {
    const signed = new Set(
      lines.flatMap(({ line, sha256 }) => (line['sig'] === undefined ? [] : [sha256])),
    );
    return [...calls].flatMap((call) => {
      // The claims of a call that has not ended are those of its lines so far.
      const ended = receiptClaims(lines, call);
      const end = { line: { event: 'session_end' }, sha256: '' };
      const claims = ended === 'underWay' ? receiptClaims([...lines, end], call) : ended;
      if (typeof claims === 'string') return [];
      const read = receiptStory(claims);
      const story = { ...read, lines: read.lines.filter(({ sha256 }) => sha256 !== '') };
      return {
        ...{ agent, story, isUnderWay: ended === 'underWay' },
        isSigned: story.lines.every(({ sha256 }) => signed.has(sha256)),
        jws: receipts.get(`${id} ${call}`) ?? null,
        rules: story.rulings.map((ruling) =>
          ruleText(policies.get(ruling.policySha256), ruling.rule, story.tool),
        ),
      };
    });
  });
}

/** Returns the people whom a call names: its requester and those who decided, also without a right. */
export function peopleOf({ story: { requester, decisions } }: BundledCall): string[] {
  return [requester, ...decisions.map(({ approver }) => approver)].filter((name) => name !== '');
}

function receiptsIn(text: string): Map<string, string> {
  const receipts = parseJson(text);
  const found = Array.isArray(receipts) ? receipts.filter(isJsonObject) : [];
  return new Map(
    found.map(({ task_id: task, call_id: call, jws }) => [
      `${textOf(task)} ${textOf(call)}`,
      textOf(jws),
    ]),
  );
}

function policiesIn(files: BundleFiles, folder: string): Map<string, JsonValue> {
  return new Map(
    Object.entries(files).flatMap(([path, text]) => {
      const [, digest] = /([0-9a-f]{64})\.json$/.exec(path) ?? [];
      const isOwn = path.startsWith(`${folder}/policies/`) && digest !== undefined;
      return isOwn ? [[digest, parseJson(text) ?? null] as const] : [];
    }),
  );
}

/** A rule's name in the log, such as `shared/payments.yaml#defer.tools.pay[1]`, or its layer for the only rule of a tool. */
const named = /^(?:(.*)#)?(step_up|modify|defer)\.tools\.(.+?)(?:\[(\d+)\])?$/s;

function ruleText(policy: JsonValue | undefined, rule: string, tool: string): string {
  const [, file, layer = rule, on = tool, index] = named.exec(rule) ?? [];
  const included = memberOf(policy, 'included');
  const from = Array.isArray(included)
    ? included.find((one) => memberOf(one, 'file') === file)
    : undefined;
  const security = memberOf(file === undefined ? policy : from, 'security');
  const found = memberOf(memberOf(memberOf(security, layer), 'tools'), on);
  const one = Array.isArray(found) && index !== undefined ? found[Number(index)] : found;
  return one === undefined ? '' : JSON.stringify(one, null, 2);
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, name)
    ? (value as JsonObject)[name]
    : undefined;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
