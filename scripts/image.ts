// Builds the image of the Dockerfile without Docker or its registry, on a Debian machine, as root: `npm run image`.
// The base images are made of Debian's packages, and of the Node and the npm of the npm registry.
// `npm run image -- --packed FILE` builds it of a packed file, `--unpack FOLDER` writes the files of the image there.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const cache = join(root, '.cache/image');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};
const [node = '', debian = ''] = ['NODE_IMAGE', 'DEBIAN_IMAGE'].map((name) => baseImage(name));
const image = `localhost/holdpoint:${version}`;
const { values } = parseArgs({
  options: { packed: { type: 'string' }, unpack: { type: 'string' } },
});

function run(program: string, ...words: string[]): string {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 } as const;
  return execFileSync(program, words, { ...options, stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

/** Runs buildah, with all that it keeps below `.cache/image`. */
function buildah(...words: string[]): string {
  const state = ['--root', join(cache, 'storage'), '--runroot', join(cache, 'run')];
  return run('buildah', ...state, '--storage-driver', 'vfs', ...words);
}

/** Returns the base image that an argument of the Dockerfile names. */
function baseImage(argument: string): string {
  const found = new RegExp(`^ARG ${argument}=(.+)$`, 'm').exec(
    readFileSync(join(root, 'Dockerfile'), 'utf8'),
  );
  if (found?.[1] === undefined) throw new Error(`the Dockerfile has no argument ${argument}`);
  return found[1];
}

function isThere(name: string): boolean {
  return buildah('images', '--format', '{{.Name}}:{{.Tag}}').split('\n').includes(name);
}

/** Makes a Debian as slim as the image that the Dockerfile names: no manuals, no translations. */
function makeDebian(): void {
  const [, release = ''] = /debian:(\w+)-slim$/.exec(debian) ?? [];
  const archive = join(cache, 'debian.tar');
  const left = ['man', 'doc', 'locale', 'info', 'groff', 'lintian'];
  const options = left.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  run('mmdebstrap', '--quiet', '--variant=minbase', '--format=tar', ...options, release, archive);
  const container = buildah('from', 'scratch');
  buildah('add', '--quiet', container, archive, '/');
  buildah('commit', '--quiet', '--rm', container, debian);
  rmSync(archive);
}

/** Adds the Node of this clone and its npm, with the authorities that this machine adds to those of Node. */
function makeNode(): void {
  const container = buildah('from', '--pull-never', debian);
  buildah(
    'copy',
    '--quiet',
    container,
    join(root, 'node_modules/node/bin/node'),
    '/usr/local/bin/node',
  );
  const npm = dirname(dirname(process.env['npm_execpath'] ?? ''));
  buildah('copy', '--quiet', container, npm, '/usr/local/lib/npm');
  buildah(
    'run',
    '--isolation',
    'chroot',
    container,
    'ln',
    '-s',
    '../lib/npm/bin/npm-cli.js',
    '/usr/local/bin/npm',
  );
  const authorities = process.env['NODE_EXTRA_CA_CERTS'];
  if (authorities !== undefined) {
    buildah('copy', '--quiet', container, authorities, '/usr/local/etc/authorities.crt');
    const settings = join(cache, 'npmrc');
    writeFileSync(settings, 'cafile=/usr/local/etc/authorities.crt\n');
    buildah('copy', '--quiet', container, settings, '/usr/local/etc/npmrc');
  }
  buildah('commit', '--quiet', '--rm', container, node);
}

/** Writes the files of the image, and its settings as `config.json`, into a folder. */
function unpack(folder: string): void {
  const container = buildah('from', '--pull-never', image);
  const files = buildah('mount', container);
  run('cp', '-a', files, join(folder, 'files'));
  writeFileSync(join(folder, 'config.json'), buildah('inspect', '--type', 'image', image));
  buildah('rm', container);
}

if (process.getuid?.() !== 0)
  throw new Error('npm run image needs root; with Docker run docker build instead');
mkdirSync(cache, { recursive: true });
buildah('rm', '--all');
if (!isThere(debian)) makeDebian();
if (!isThere(node)) makeNode();
const file = `holdpoint-${version}.tgz`;
const context = join(cache, 'context');
rmSync(context, { recursive: true, force: true });
mkdirSync(context);
if (values.packed === undefined) run('npm', 'pack', '--pack-destination', context);
else copyFileSync(values.packed, join(context, file));
copyFileSync(join(root, 'package-lock.json'), join(context, 'package-lock.json'));
buildah(
  'bud',
  '--format',
  'docker',
  '--isolation',
  'chroot',
  '--pull-never',
  '--file',
  join(root, 'Dockerfile'),
  '--tag',
  image,
  context,
);
// The image that this one replaces.
buildah('rmi', '--prune', '--force');
const size = buildah('images', '--format', '{{.Size}}', image);
if (values.unpack !== undefined && !existsSync(join(values.unpack, 'files'))) unpack(values.unpack);
process.stdout.write(`${image}: ${size}\n`);
