import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { settleModes } from './settle-modes.ts';
import { writeTypes } from './write-types.ts';

const root = join(import.meta.dirname, '../..');

/** The packages for other programs, each with the folder that its types are paths from. */
const packages = { client: 'packages/client', machines: 'src/machines', testing: '' };

/** Starts a daemon, so the bundle of the command contains it; its package passes on what `holdpoint` exports. */
const daemon = 'packages/testing/testing.ts';

/** A public module: its source, the name of its file, and the package that contains it. */
interface Face {
  source: string;
  name: string;
  owner: keyof typeof packages;
}

/**
 * Writes the packages for other programs, each with its types and terms, to `dist` in its folder; the main package exports the same files.
 * Their `exports` name the public modules. Returns the modules that went in, by path. XState is a peer of the charts: an actor of one copy
 * of it does not run in a system of another.
 */
export async function writeLibrary(): Promise<string[]> {
  const owners = Object.keys(packages) as (keyof typeof packages)[];
  const faces = owners.flatMap(facesOf);
  const modules = [];
  for (const owner of owners) {
    const folder = join(root, 'packages', owner);
    rmSync(join(folder, 'dist'), { recursive: true, force: true });
    cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
    const own = faces.filter((face) => face.owner === owner);
    modules.push(...(await bundle(join(folder, 'dist'), own)));
  }
  writeTypes(
    faces.map(({ source, owner }) => ({
      source,
      base: packages[owner],
      folder: join(root, 'packages', owner, 'dist/types'),
    })),
  );
  for (const owner of owners) settleModes(join(root, 'packages', owner));
  return modules;
}

/** Reads the public modules of a package from its `exports`, which have types at the path of the source. */
function facesOf(owner: keyof typeof packages): Face[] {
  const manifest = readFileSync(join(root, 'packages', owner, 'package.json'), 'utf8');
  const { exports } = JSON.parse(manifest) as {
    exports: Record<string, string | { types: string; default: string }>;
  };
  return Object.values(exports).flatMap((face) => {
    if (typeof face === 'string') return [];
    const path = face.types.replace(/^\.\/dist\/types\/(.*)\.d\.ts$/, '$1.ts');
    return [{ source: join(packages[owner], path), name: basename(face.default, '.js'), owner }];
  });
}

async function bundle(folder: string, faces: readonly Face[]): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const input = Object.fromEntries(
    faces
      .filter(({ source }) => source !== daemon)
      .map(({ name, source }) => [name, join(root, source)]),
  );
  if (faces.some(({ source }) => source === daemon)) {
    writeFileSync(join(folder, 'testing.js'), "export * from 'holdpoint/testing';\n");
  }
  const built = await rolldown({
    ...{ cwd: root, input, platform: 'neutral' },
    external: ['fast-check', 'xstate'],
  });
  try {
    const { output } = await built.write({
      ...{ dir: folder, format: 'esm', entryFileNames: '[name].js' },
      comments: { annotation: false, jsdoc: false },
    });
    return output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  } finally {
    await built.close();
  }
}
