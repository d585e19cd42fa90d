import { execFile } from 'node:child_process';

/** How a check ended: what it printed, and the seconds it took. */
export interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  readonly output: string;
  readonly seconds: number;
}

/**
 * Runs a check, a script of the package.json in `folder`, and resolves however it ends; one that cannot be started has
 * failed.
 */
export function runCheck(name: string, folder: string): Promise<CheckResult> {
  const started = performance.now();
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile('npm', ['run', '--silent', name], options, (error, stdout, stderr) => {
      const seconds = (performance.now() - started) / 1_000;
      const said = `${stdout}${stderr}`.trim();
      const output = said === '' && error !== null ? error.message : said;
      resolve({ name, passed: error === null, output, seconds });
    });
  });
}
