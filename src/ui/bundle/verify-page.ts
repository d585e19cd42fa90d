// The script of the page in an evidence bundle. It verifies the embedded files, or those of a chosen archive, and reports
// their calls.
import { callsOf } from './bundled-calls.ts';
import { make, moment, type ReportedCall, showCalls } from './call-report.ts';
import {
  type BundleFiles,
  type Manifest,
  type PartResult,
  verdictOf,
  verifyBundle,
} from './verify-bundle.ts';

function element<Element extends HTMLElement>(selector: string): Element {
  return document.querySelector<Element>(selector) as Element;
}

function addRow({ agent, part, state, says }: PartResult): void {
  const row = element<HTMLTableSectionElement>('#parts tbody').insertRow();
  row.className = state;
  for (const text of [agent, part, says]) row.insertCell().textContent = text;
}

async function show(read: () => Promise<BundleFiles>): Promise<void> {
  const verdict = element('#verdict');
  element('#parts tbody').replaceChildren();
  showCalls(element('#calls'), []);
  verdict.textContent = 'Verifying …';
  verdict.className = '';
  const parts: PartResult[] = [];
  const add = (result: PartResult): void => {
    parts.push(result);
    addRow(result);
  };
  try {
    const files = await read();
    const manifest = JSON.parse(files['bundle.json'] ?? '') as Manifest;
    element('#about').replaceChildren(...aboutOf(manifest));
    for await (const result of verifyBundle(manifest, files)) add(result);
    showCalls(element('#calls'), await reportedCalls(manifest, files, parts));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    add({ agent: '', folder: '', part: 'bundle', state: 'broken', says: `broken: ${reason}` });
  }
  const { tone, sentence } = verdictOf(parts);
  verdict.textContent = sentence;
  verdict.className = tone;
}

/** Returns the calls of all agents by time; of an agent with a broken part no call counts as verified. */
async function reportedCalls(
  { agents }: Manifest,
  files: BundleFiles,
  parts: readonly PartResult[],
): Promise<ReportedCall[]> {
  const calls: ReportedCall[] = [];
  for (const agent of agents) {
    const own = parts.filter((one) => one.folder === agent.folder);
    const isBroken = own.some(({ state }) => state === 'broken');
    const hasKeys = own.some(
      ({ part, count }) => part === 'lines' && count?.unsigned !== count?.lines,
    );
    // Lines that cannot be read were reported as broken.
    for (const call of isBroken
      ? await callsOf(agent, files).catch(() => [])
      : await callsOf(agent, files)) {
      const check = isBroken ? 'broken' : hasKeys && call.isSigned ? 'signed' : 'unsigned';
      calls.push({ ...call, check });
    }
  }
  return calls.toSorted((one, other) => one.story.askedAt.localeCompare(other.story.askedAt));
}

function aboutOf({ created_at: created, from, to, task_id: task }: Manifest): Node[] {
  return [
    make(
      'span',
      {},
      'Made ',
      moment(created),
      ', of events from ',
      from === null ? 'the first' : moment(from),
      ' to ',
      to === null ? 'the last' : moment(to),
      task === null ? '' : ` of task ${task}`,
    ),
  ];
}

element<HTMLInputElement>('#file').addEventListener('change', ({ target }) => {
  const [file] = (target as HTMLInputElement).files ?? [];
  if (file !== undefined) void show(() => readZip(file));
});
element<HTMLButtonElement>('#print').addEventListener('click', () => print());

const embedded = JSON.parse(element('#files').textContent ?? 'null') as BundleFiles | null;
if (embedded === null) {
  element('#verdict').textContent =
    'The bundle is too large for this page: choose its ZIP file below.';
} else void show(() => Promise.resolve(embedded));

/** Reads the files of a ZIP archive as texts, by path. Throws for a file that is no archive. */
async function readZip(blob: Blob): Promise<Record<string, string>> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const view = new DataView(bytes.buffer);
  let end = bytes.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end -= 1;
  if (end < 0) throw new Error('this is not a ZIP archive');
  const files: Record<string, string> = {};
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left -= 1) {
    const size = view.getUint32(at + 20, true);
    const name = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    const path = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name));
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    const packed = new Blob([bytes.subarray(start, start + size)]);
    const isPacked = view.getUint16(at + 10, true) === 8;
    const stream = isPacked
      ? packed.stream().pipeThrough(new DecompressionStream('deflate-raw'))
      : packed.stream();
    if (!path.endsWith('/')) files[path] = await new Response(stream).text();
    at += 46 + name + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return files;
}
