import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { insideAgent } from './files.mjs';
import { run } from './run.mjs';

const most = 500;
const kinds = { feat: 'features', fix: 'fixes', perf: 'performance', docs: 'documentation' };

await run(({ repository, from, to = 'HEAD' }) => {
  const folder = bareRepository(repository);
  const end = commitOf(folder, to);
  const start = from === undefined ? latestTag(folder, end) : from;
  const range = start === null ? end : `${commitOf(folder, start)}..${end}`;
  const log = git(folder, [
    'log',
    '-z',
    `--max-count=${most + 1}`,
    '--no-merges',
    '--format=%h%x1f%as%x1f%an%x1f%s%x1f%b',
    range,
    '--',
  ]);
  const commits = log.split('\0').filter(Boolean).map(asCommit);
  const sorted = {
    breaking: [],
    features: [],
    fixes: [],
    performance: [],
    documentation: [],
    others: [],
  };
  for (const { kind, ...commit } of commits.slice(0, most)) sorted[kind].push(commit);
  const found = Object.entries(sorted).filter(([, list]) => list.length > 0);
  return {
    ...{ from: start, to, commits: Math.min(commits.length, most), more: commits.length > most },
    changes: Object.fromEntries(found),
  };
});

/** The sandbox hides every `.git` folder, as such a one may hold tokens. */
function bareRepository(path) {
  const folder = insideAgent(path);
  if (existsSync(join(folder, 'HEAD')) && existsSync(join(folder, 'objects'))) return folder;
  throw new Error(`${path} is no bare repository; make one with git clone --mirror`);
}

function asCommit(text) {
  const [hash, date, author, subject = '', body = ''] = text.split('\x1f');
  const [, type, scope, mark, words] = /^(\w+)(?:\(([^)]*)\))?(!)?:\s*(.*)$/.exec(subject) ?? [];
  const isBreaking = mark === '!' || /^BREAKING[ -]CHANGE:/m.test(body);
  const kind = isBreaking ? 'breaking' : (kinds[type?.toLowerCase()] ?? 'others');
  const known = type !== undefined && (isBreaking || kind !== 'others');
  return {
    ...{ kind, hash, date, author, subject: (known ? words : subject).slice(0, 300) },
    ...(known && scope ? { scope } : {}),
    ...(isBreaking ? { text: body.trim().slice(0, 1_000) } : {}),
  };
}

function latestTag(folder, end) {
  try {
    return git(folder, ['describe', '--tags', '--abbrev=0', end]).trim();
  } catch {
    return null;
  }
}

function commitOf(folder, name) {
  try {
    return git(folder, [
      'rev-parse',
      '--verify',
      '--quiet',
      '--end-of-options',
      `${name}^{commit}`,
    ]).trim();
  } catch (error) {
    if (error.code === 'ENOENT') throw new Error('git is not installed');
    throw new Error(`there is no version ${name} in this repository`);
  }
}

/** Nothing that the repository configures is run, and what is missing in it is fetched from nowhere. */
function git(folder, args) {
  const options = [
    'safe.directory=*',
    'core.fsmonitor=false',
    'log.showSignature=false',
    'core.hooksPath=/dev/null',
  ];
  const settings = options.flatMap((option) => ['-c', option]);
  return execFileSync('git', ['--no-pager', `--git-dir=${folder}`, ...settings, ...args], {
    ...{ cwd: folder, encoding: 'utf8', maxBuffer: 8 * 1024 * 1024, timeout: 30_000 },
    env: {
      ...process.env,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_OPTIONAL_LOCKS: '0',
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: 'none',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}
