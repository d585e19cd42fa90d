import type { PublicKeySet } from '../../actors/records/records.ts';
import type { JsonValue } from '../../machines/json.ts';
import { version } from '../../version.ts';

/** The receipt of a call: a JWS in compact form, signed by a key of the agent's log. */
export interface BundledReceipt {
  task_id: string;
  call_id: string;
  jws: string;
}

/** The verdict on a whole log when a bundle was made. */
export interface BundledVerdict {
  ok: boolean;
  /** The verdict as `audit verify` prints it. */
  sentence: string;
  /** Hash of the log's last line. */
  head: string;
}

/** The evidence of one agent. */
export interface BundledAgent {
  agentId: string;
  /** The bundled lines with their newlines, and the hash of the last one; `null` for no lines. */
  log: string;
  head: string | null;
  /** Runs of consecutive lines: the number of the first one in the log, from 1, and their count. */
  runs: [first: number, count: number][];
  /** Hash of the last line that was removed with the oldest files, and the number of the line after it. */
  continuedFrom: { line: number; hash: string } | null;
  keys: PublicKeySet;
  /** The `policy_loaded` lines with their newlines: of the policy in force at the beginning, and later ones. */
  policies: string;
  /** Canonical texts of policies, by their SHA-256. */
  policyTexts: ReadonlyMap<string, string>;
  receipts: readonly BundledReceipt[];
  verdict: BundledVerdict;
}

/** What a bundle covers; `null` for everything. Times in RFC 3339. */
export interface BundleScope {
  createdAt: string;
  from: string | null;
  to: string | null;
  taskId: string | null;
}

/** Maximum size of the files in characters that the page contains; the page of a larger bundle asks for its archive. */
const mostEmbedded = 64 * 1024 * 1024;

/** Returns the files of an evidence bundle by path, with the `page` that verifies them (docs/audit-log.md). */
export function bundleFiles(
  scope: BundleScope,
  agents: readonly BundledAgent[],
  page: string,
): Map<string, string> {
  const files = new Map<string, string>();
  const listed = agents.map((agent, index) => {
    const isFirst = agents.findIndex(({ agentId }) => agentId === agent.agentId) === index;
    const folder = `agents/${encodeURIComponent(agent.agentId)}${isFirst ? '' : `-${index + 1}`}`;
    addFiles(files, folder, agent);
    return {
      ...{ agent_id: agent.agentId, folder, runs: agent.runs, head: agent.head },
      ...{ continued_from: agent.continuedFrom, verdict: agent.verdict },
    };
  });
  const { createdAt, from, to, taskId } = scope;
  files.set(
    'bundle.json',
    jsonOf({
      ...{ format: 1, holdpoint: version, created_at: createdAt, from, to, task_id: taskId },
      agents: listed as unknown as JsonValue,
    }),
  );
  files.set('verify.html', withFiles(page, files));
  return files;
}

function addFiles(files: Map<string, string>, folder: string, agent: BundledAgent): void {
  files.set(`${folder}/log.ndjson`, agent.log);
  files.set(`${folder}/keys.json`, jsonOf(agent.keys as unknown as JsonValue));
  files.set(`${folder}/policies.ndjson`, agent.policies);
  for (const [sha256, text] of agent.policyTexts) {
    files.set(`${folder}/policies/${sha256}.json`, text);
  }
  files.set(`${folder}/receipts.json`, jsonOf(agent.receipts as unknown as JsonValue));
}

function jsonOf(value: JsonValue): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Embeds the files of a bundle in its page. */
function withFiles(page: string, files: ReadonlyMap<string, string>): string {
  const size = [...files.values()].reduce((sum, text) => sum + text.length, 0);
  const embedded = size > mostEmbedded ? null : Object.fromEntries(files);
  // No text of the log may end the script element.
  const json = JSON.stringify(embedded).replaceAll('<', '\\u003c');
  return page.replace('id="files">null<', () => `id="files">${json}<`);
}
