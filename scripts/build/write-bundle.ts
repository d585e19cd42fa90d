import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { type LogLevel, type OutputChunk, type Plugin, type RolldownLog, rolldown } from 'rolldown';

const clone = join(import.meta.dirname, '../..');

/** Packages that find their own files by path; npm installs them next to the bundle. */
const external = ['piscina'];

/** The command, and what tests of others start an agent with. */
const inputs = { cli: 'src/cli.ts', 'testing-main': 'packages/testing/testing.ts' };

/** The hook, which starts for each call of a coding agent: a file that loads no other. */
const hook = { source: 'src/cli/hook/main.ts', file: 'hook.cjs' };

/** Packages whose usual entry loads its parts by paths that a bundle does not have. */
const alias = { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' };

const comments = { annotation: false, jsdoc: false };

/** Begins the names under which modules of Node stand in the bundle. */
const builtinMark = '\0node:';

/**
 * Writes the command, and the module that tests its agents, as JavaScript with its packages inside, in files that are loaded when they are needed. Workers are
 * files of their own; what is read as text lies where it lies in `src`. `root` holds the sources. Returns the modules
 * that went in, by path.
 */
export async function writeBundle(folder: string, root = clone): Promise<string[]> {
  const source = join(root, 'src');
  const input = Object.fromEntries(
    Object.entries(inputs).map(([name, path]) => [name, join(root, path)]),
  );
  const bundle = await rolldown({
    ...{ cwd: root, input, platform: 'node', external },
    resolve: { alias },
    ...{ plugins: [workers, builtins, hookApart(root)], tsconfig: false, checks: { eval: false } },
    onLog: refuse,
  });
  try {
    const { output } = await bundle.write({
      ...{ dir: folder, format: 'esm', comments },
      ...{ entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    });
    const single = await writeHook(folder, root);
    for (const path of filesReadAsText(source)) cpSync(join(source, path), join(folder, path));
    writeCheckedFace(folder, root);
    const chunks = [...output, ...single].filter(
      (file): file is OutputChunk => file.type === 'chunk',
    );
    return chunks.flatMap(({ moduleIds }) => moduleIds);
  } finally {
    await bundle.close();
  }
}

/** CommonJS starts sooner, and its `require` of `node:http` loads no client of Node's own. */
async function writeHook(folder: string, root: string) {
  const input = join(root, hook.source);
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    tsconfig: false,
    onLog: refuse,
  });
  try {
    const file = join(folder, hook.file);
    const { output } = await bundle.write({ file, format: 'cjs', comments, codeSplitting: false });
    return output;
  } finally {
    await bundle.close();
  }
}

/** Has the command load the file of the hook in place of a copy. */
function hookApart(root: string): Plugin {
  return {
    name: 'hook',
    resolveId(name, importer) {
      const isHook =
        importer !== undefined && resolve(dirname(importer), name) === join(root, hook.source);
      return isHook ? { id: `./${hook.file}`, external: true } : null;
    },
  };
}

/**
 * Writes `testing.js`, which checks the Node that runs it before it evaluates the bundle: what fails there on an old one
 * is a built-in module that is not there, with a message that does not name the cause.
 */
function writeCheckedFace(folder: string, root: string): void {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  const least = engines.node.replace('>=', '');
  const check = `if (parseInt(process.versions.node, 10) < ${least}) {
  throw new Error('holdpoint/testing needs Node ${least} or newer; this is ' + process.versions.node);
}
`;
  writeFileSync(join(folder, 'testing-node.js'), check);
  const face = "import './testing-node.js';\nexport * from './testing-main.js';\n";
  writeFileSync(join(folder, 'testing.js'), face);
}

/** Makes each module that runs in a worker a file next to the one that names it. */
const workers: Plugin = {
  name: 'workers',
  transform: {
    filter: { code: /from: import\.meta/ },
    handler(code, path) {
      const [, module = ''] = /from: import\.meta,\s+module: '([^']+)'/.exec(code) ?? [];
      if (module === '') this.error(`the worker of ${path} is not named`);
      const id = resolve(dirname(path), `${module}.ts`);
      this.emitFile({ type: 'chunk', id, fileName: `${basename(id, '.ts')}.js` });
    },
  },
};

/**
 * Takes the modules of Node as they are. An import of one has Node read all that it holds, which for `node:http` loads a
 * client of its own. The runtime of the bundle comes before all others and keeps its import.
 */
const builtins: Plugin = {
  name: 'builtins',
  resolveId: {
    filter: { id: new RegExp(`^(node:.*|${builtinModules.join('|')})$`) },
    handler(name, importer, { kind }) {
      if (kind !== 'import-statement' || importer?.startsWith('\0rolldown/')) return null;
      return `${builtinMark}${name.replace('node:', '')}`;
    },
  },
  load: {
    filter: { id: new RegExp(`^${builtinMark}`) },
    handler: (id) =>
      `module.exports = process.getBuiltinModule('node:${id.slice(builtinMark.length)}')`,
  },
};

/** Files that are read as text and not imported. The page of the dashboard is built separately. */
function filesReadAsText(source: string): string[] {
  const exclude = ['ui/**'];
  return globSync('**/*', { cwd: source, exclude, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(source, join(parentPath, name)))
    .filter((path) => extname(path) !== '.ts');
}

/** What a bundler warns of would fail when it is run. */
function refuse(level: LogLevel, { message }: RolldownLog): void {
  if (level === 'warn') throw new Error(message);
}
