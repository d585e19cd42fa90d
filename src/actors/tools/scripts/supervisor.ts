import type { Duplex } from 'node:stream';
import { parseJson } from '../../../machines/json.ts';

/** Exit of a program. */
export interface Exit {
  code: number | null;
  signal: string | null;
}

/** The daemon's end of descriptor 3 of a supervisor. */
export interface Supervisor {
  /** Asks the supervised program to end. */
  ask(): void;
  /**
   * Returns the exit of the supervised program, given the supervisor's own. Throws an Error with a `code` if the
   * program never started.
   */
  endOf(own: Exit): Exit | 'tooManyProcesses';
  close(): void;
}

/** Creates the communication with a supervisor. */
export function supervisorOn(control: Duplex): Supervisor {
  let said = '';
  control.on('data', (chunk: Buffer) => {
    // The report is short; anything longer comes from another source.
    if (said.length < 1_000) said += chunk.toString();
  });
  control.on('error', ignore);
  return {
    ask: () => void control.write('.'),
    close: () => void control.destroy(),
    endOf(own) {
      const end = parseJson(said) as Said | null | undefined;
      if (end?.error === 'too many processes') return 'tooManyProcesses';
      if (typeof end?.error === 'string') throw notStarted(end.error);
      if (typeof end?.code === 'number' || typeof end?.signal === 'string') {
        return { code: end.code ?? null, signal: end.signal ?? null };
      }
      // A supervisor without a report has failed, regardless of its exit code.
      return own.code === 0 ? { code: 1, signal: null } : own;
    },
  };
}

interface Said {
  code?: number | null;
  signal?: string | null;
  error?: string;
}

function notStarted(code: string): Error {
  return Object.assign(new Error('the program could not be started'), { code });
}

/** The supervisor may have ended already. */
function ignore(): void {}
