import { execFile } from 'node:child_process';
import { commandLine } from '../../actors/command-line.ts';
import type { AgentCommand } from '../../actors/workspace/workspace.ts';
import type { DoctorJson } from '../../http/wire/dashboard/doctor-json.ts';
import { parseJson } from '../../machines/json.ts';

/** Timeout in milliseconds for all checks of an agent. */
const patience = 60_000;

/** Maximum output of the checks in bytes. */
const longest = 1024 * 1024;

/**
 * Runs `doctor` on a folder's agent in a child process, because some checks read the whole log or store. The signal
 * kills the process. Returns the output. Rejects with a one-sentence message on a timeout.
 */
export function examineAgent(
  { file, args, env }: AgentCommand,
  directory: string,
  signal: AbortSignal,
): Promise<DoctorJson> {
  return new Promise((resolve, reject) => {
    const words = [...args, '--json', 'doctor', '--dir', directory];
    const options = { env, signal, timeout: patience, killSignal: 'SIGKILL', maxBuffer: longest };
    const child = execFile(file, words, options as { env: NodeJS.ProcessEnv }, (error, stdout) => {
      const found = readReport(stdout);
      if (found !== null) return resolve(found);
      const isLate = error !== null && 'killed' in error && error.killed === true;
      const why = isLate ? 'were not done within a minute' : 'ended without a word';
      reject(new Error(`the checks ${why}; run ${commandLine('doctor --dir FOLDER')} to see more`));
    });
    // No passphrase prompt is possible here.
    child.stdin?.end();
  });
}

function readReport(text: string): DoctorJson | null {
  const { checks, error } = Object(parseJson(text)) as Partial<DoctorJson>;
  if (!Array.isArray(checks)) return null;
  return { checks, ...(error === undefined ? {} : { error }) };
}
