// Asks the registry for advisories about the packages of the lock file: `npm run advisories`. Exits with 1 if one of
// high or critical severity is about a package that ships. Without an answer it passes, unless `--required` is given.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type AuditReport, assess, type Exception } from './advisories/assess.ts';
import { shippedPackages } from './advisories/shipped-packages.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    registry: { type: 'string' },
    required: { type: 'boolean', default: false },
    exceptions: { type: 'string' },
  },
});

const report = ask();
if (report === null || report.error !== undefined) {
  const why = report?.message ?? 'npm printed no report';
  const sentence = `the advisories could not be fetched, so none was checked: ${why}`;
  if (values.required) console.error(sentence);
  else console.log(sentence);
  process.exitCode = values.required ? 1 : 0;
} else {
  const file = values.exceptions ?? join(import.meta.dirname, 'advisories/exceptions.json');
  const { failures, notes } = assess(report, {
    shipped: shippedPackages(root),
    exceptions: JSON.parse(readFileSync(file, 'utf8')) as Exception[],
    today: new Date().toISOString().slice(0, 10),
  });
  for (const note of notes) console.log(note);
  for (const failure of failures) console.error(failure);
  if (failures.length === 0) console.log('no advisory stops a release');
  process.exitCode = failures.length === 0 ? 0 : 1;
}

/** Returns the report of npm; `null` if it is none. */
function ask(): AuditReport | null {
  const registry = values.registry === undefined ? [] : ['--registry', values.registry];
  const limits = ['--fetch-retries=0', '--fetch-timeout=30000'];
  const { stdout } = spawnSync('npm', ['audit', '--json', ...limits, ...registry], {
    ...{ cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  });
  try {
    return JSON.parse(stdout) as AuditReport;
  } catch {
    return null;
  }
}
