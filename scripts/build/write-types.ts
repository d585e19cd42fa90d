import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');

/** A file of ours, as a declaration names it. */
const namedFile = /(from |import\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g;

/** A public module, by its path from the root, and the folder of its types, in which they have their paths from `base`. */
export interface TypedFace {
  source: string;
  base: string;
  folder: string;
}

/**
 * Writes the types of the public modules: those of the faces and of all that these name. Throws when one of them cannot be
 * written down.
 */
export function writeTypes(faces: readonly TypedFace[]): void {
  const declared = mkdtempSync(join(tmpdir(), 'holdpoint-types-'));
  try {
    const project = join(declared, 'tsconfig.json');
    writeFileSync(project, JSON.stringify(projectOf(faces)));
    const args = [compiler, '-p', project, '--outDir', declared, '--pretty', 'false'];
    const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    for (const { source, base, folder } of faces) {
      const texts = textsFrom(declared, source);
      refuseFaults(stdout, texts);
      for (const [file, text] of texts) {
        const target = join(folder, relative(base, file));
        mkdirSync(dirname(target), { recursive: true });
        writeFileSync(target, text.replaceAll(namedFile, '$1$2$3.js$2'));
      }
    }
  } finally {
    rmSync(declared, { recursive: true, force: true });
  }
}

function projectOf(faces: readonly TypedFace[]): object {
  return {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      emitDeclarationOnly: true,
      declaration: true,
      noCheck: true,
      incremental: false,
      rootDir: root,
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: [],
    files: faces.map(({ source }) => join(root, source)),
  };
}

/** Returns the declarations of a file and of all that it names, by their paths. */
function textsFrom(folder: string, face: string): Map<string, string> {
  const files = new Set([face.replace(/\.ts$/, '.d.ts')]);
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
    const [, file = ''] = /^(.*)\.ts\(/.exec(line) ?? [];
    return texts.has(`${file}.d.ts`);
  });
  if (faults.length > 0) throw new Error(faults.join('\n'));
}
