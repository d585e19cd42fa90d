import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { scriptWarnings } from '../../../../src/actors/tools/skills/script-definitions.ts';

async function warningsOf(file: string, text: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'script-warnings-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, file), text);
  return scriptWarnings(join(folder, file));
}

it('a script with line ends that a shell takes for part of a word has a warning', async () => {
  expect(await warningsOf('count.sh', 'set -eu\r\necho 1\r\n')).toEqual([
    'count.sh has the line ends of Windows, which the shell reads as part of its words; save it with LF',
  ]);
  expect(await warningsOf('count.py', 'print(1)\r\n')).toEqual([]);
});

it.each(['#!/usr/bin/env perl', '#! /usr/bin/perl -w'])(
  'a script with an unused first line has a warning: %s',
  async (first) => {
    expect(await warningsOf('count.sh', `${first}\nprint 1;\n`)).toEqual([
      'count.sh asks for perl in its first line, but what runs it goes by its ending; rename it or write it for that',
    ]);
  },
);

it.each([
  ['a.sh', '#!/bin/sh'],
  ['a.sh', '#!/usr/bin/env bash'],
  ['a.sh', '#!/bin/bash -eu'],
  ['a.py', '#!/usr/bin/env python3'],
  ['a.py', '#!/usr/bin/python3.11'],
  ['a.mjs', '#!/usr/bin/env node'],
  ['a.ts', '#!/usr/bin/env -S node'],
  ['a.sh', 'echo no first line'],
  ['a.sh', ''],
])('a script %s that begins with %s has no warning', async (file, first) => {
  expect(await warningsOf(file, `${first}\n`)).toEqual([]);
});

it('a missing script has no warning', async () => {
  expect(scriptWarnings('/nowhere/count.sh')).toEqual([]);
});
