// The script of the page in an evidence bundle. It verifies the embedded files, or those of a chosen archive.

import { readZip } from './read-zip.ts';
import { type BundleFiles, type Manifest, type PartResult, verifyBundle } from './verify-bundle.ts';

function element<Element extends HTMLElement>(selector: string): Element {
  return document.querySelector<Element>(selector) as Element;
}

function addRow({ agent, part, says }: PartResult): void {
  const row = element<HTMLTableSectionElement>('tbody').insertRow();
  for (const text of [agent, part, says]) row.insertCell().textContent = text;
}

function fail(message: string): void {
  addRow({ agent: '', part: 'bundle', ok: false, says: `broken: ${message}` });
}

async function show(read: () => Promise<BundleFiles>): Promise<void> {
  const verdict = element('#verdict');
  element('tbody').replaceChildren();
  verdict.textContent = 'Verifying …';
  verdict.className = '';
  let isIntact = true;
  try {
    const files = await read();
    const manifest = JSON.parse(files['bundle.json'] ?? '') as Manifest;
    element('#about').textContent = aboutOf(manifest);
    for await (const result of verifyBundle(manifest, files)) {
      addRow(result);
      isIntact &&= result.ok;
    }
  } catch (error) {
    isIntact = false;
    fail(error instanceof Error ? error.message : String(error));
  }
  verdict.textContent = isIntact ? 'The bundle is intact.' : 'The bundle is broken.';
  verdict.className = isIntact ? 'good' : 'bad';
}

function aboutOf({ created_at: created, from, to, task_id: task }: Manifest): string {
  const range = `${from ?? 'from the first'} to ${to ?? 'the last'}`;
  return `Made ${created}, of events ${range}${task === null ? '' : ` of task ${task}`}`;
}

element<HTMLInputElement>('#file').addEventListener('change', ({ target }) => {
  const [file] = (target as HTMLInputElement).files ?? [];
  if (file !== undefined) void show(() => readZip(file));
});

const embedded = JSON.parse(element('#files').textContent ?? 'null') as BundleFiles | null;
if (embedded === null) {
  element('#verdict').textContent =
    'The bundle is too large for this page: choose its ZIP file below.';
} else void show(() => Promise.resolve(embedded));
