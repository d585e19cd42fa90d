import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { ValidationSeverity, validate } from 'dockerfile-utils';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const { version, description, license, devDependencies } = JSON.parse(read('package.json')) as {
  version: string;
  description: string;
  license: string;
  devDependencies: Record<string, string>;
};
const text = read('Dockerfile');
const { ERROR } = ValidationSeverity;
const rules = {
  deprecatedMaintainer: ERROR,
  directiveCasing: ERROR,
  emptyContinuationLine: ERROR,
  instructionCasing: ERROR,
  instructionCmdMultiple: ERROR,
  instructionEntrypointMultiple: ERROR,
  instructionHealthcheckMultiple: ERROR,
  instructionJSONInSingleQuotes: ERROR,
  instructionWorkdirRelative: ERROR,
};

/** Returns the instructions of a Dockerfile as pairs of keyword and arguments. */
function instructionsOf(content: string): [string, string][] {
  return DockerfileParser.parse(content)
    .getInstructions()
    .map((one) => [one.getKeyword(), one.getArgumentsContent() ?? '']);
}

/** Returns each base image, copied file, user and variable that an image must not have. */
function faultsOf(content: string): string[] {
  const instructions = instructionsOf(content);
  const faults = validate(content, rules).map(({ message }) => `${message}`);
  const final = instructions.slice(instructions.findLastIndex(([keyword]) => keyword === 'FROM'));
  const users = final.filter(([keyword]) => keyword === 'USER').map(([, user]) => user);
  if (!/^[1-9]\d*:[1-9]\d*$/.test(users.at(-1) ?? '')) faults.push('no numeric user');
  if (!final.some(([keyword]) => keyword === 'HEALTHCHECK')) faults.push('no health check');
  for (const [keyword, words] of instructions) {
    const named = /(?:password|secret|token|_key|passphrase)/i.test(words);
    if (['ARG', 'ENV'].includes(keyword) && named) faults.push(`secret in ${keyword} ${words}`);
    const image = /^\w+_IMAGE=(.+)$/.exec(words)?.[1] ?? (keyword === 'FROM' ? words : '$');
    const pinned = /^(?:\$|[^:]+:[^:@]*\d|[^:]+:trixie-slim$|[^@]+@sha256:)/.test(image);
    if (!pinned || image.includes(':latest')) faults.push(`no fixed tag: ${image}`);
  }
  return faults;
}

describe('the Dockerfile', () => {
  it('has no fault', () => {
    expect(faultsOf(text)).toEqual([]);
  });

  it('is refused with each fault that the test detects', () => {
    const bad = 'FROM node:latest\nENV API_TOKEN=x\nCOPY a b\nUSER node\nFORM\n';
    expect(faultsOf(bad)).toEqual([
      'Unknown instruction: FORM',
      'no numeric user',
      'no health check',
      'no fixed tag: node:latest',
      'secret in ENV API_TOKEN=x',
    ]);
  });

  it('copies files of its context only, and the context contains nothing else', () => {
    const copied = DockerfileParser.parse(text)
      .getCOPYs()
      .filter((copy) => copy.getFromFlag() === null)
      .flatMap((copy) => copy.getArguments().slice(0, -1))
      .map((word) => word.getValue());
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an argument of the Dockerfile
    expect(copied).toEqual(['holdpoint-${VERSION}.tgz', 'package-lock.json']);
    const context = read('.dockerignore').replaceAll(/^#.*\n/gm, '');
    expect(context).toBe('*\n!holdpoint-*.tgz\n!package-lock.json\n');
  });

  it('names the version, the licence and the Node of the package', () => {
    expect(text).toContain(`\nARG VERSION=${version}\n`);
    expect(read('deploy/helm/holdpoint/Chart.yaml')).toContain(
      `\nversion: ${version}\nappVersion: ${version}\n`,
    );
    expect(read('deploy/kubernetes/kustomization.yaml')).toContain(`\n    newTag: ${version}\n`);
    expect(read('deploy/compose.yaml')).toContain(`FROM holdpoint:${version}\n`);
    expect(text).toContain(`image.description="${description}"`);
    expect(text).toContain(`image.licenses="${license}"`);
    expect(text).toContain(`/node:${devDependencies['node']}-`);
  });
});
