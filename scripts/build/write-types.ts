import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');

/** A file of ours, as a declaration names it. */
const namedFile = /(from |import\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g;

/**
 * Writes the types of the public modules to `folder`, by their paths in `src`: those of the faces and of all that these
 * name. Throws when one of them cannot be written down.
 */
export function writeTypes(folder: string, faces: readonly string[]): void {
  const declared = mkdtempSync(join(tmpdir(), 'holdpoint-types-'));
  try {
    const project = join(import.meta.dirname, 'types.json');
    const args = [compiler, '-p', project, '--outDir', declared, '--pretty', 'false'];
    const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    const texts = textsFrom(declared, faces);
    refuseFaults(stdout, texts);
    for (const [file, text] of texts) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text.replaceAll(namedFile, '$1$2$3.js$2'));
    }
  } finally {
    rmSync(declared, { recursive: true, force: true });
  }
}

/** Returns the declarations of some files and of all that they name, by their paths. */
function textsFrom(folder: string, faces: readonly string[]): Map<string, string> {
  const files = new Set(faces.map((face) => face.replace(/\.ts$/, '.d.ts')));
  const texts = new Map<string, string>();
  // A set visits what is added while it is walked.
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8');
    texts.set(file, text);
    for (const [, , , path = ''] of text.matchAll(namedFile)) {
      files.add(join(dirname(file), `${path}.d.ts`));
    }
  }
  return texts;
}

/** A type that is used and not exported is a fault of the public types alone; the rest of the program may have such. */
function refuseFaults(said: string, texts: ReadonlyMap<string, string>): void {
  const faults = said.split('\n').filter((line) => {
    const [, file = ''] = /^src\/(.*)\.ts\(/.exec(line) ?? [];
    return texts.has(`${file}.d.ts`);
  });
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
