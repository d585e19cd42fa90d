import type { Duplex } from 'node:stream';

/** How a program ended. */
export interface Exit {
  code: number | null;
  signal: string | null;
}

/** The other end of descriptor 3 of a program that runs another one for us. */
export interface Supervisor {
  /** Asks the program that is being run to end. */
  ask(): void;
  /** How that program ended, given how its supervisor did. Throws an Error with a `code` when it never started. */
  endOf(own: Exit): Exit | 'tooManyProcesses';
  close(): void;
}

/** Speaks to a supervisor. */
export function supervisorOn(control: Duplex): Supervisor {
  let said = '';
  control.on('data', (chunk: Buffer) => {
    // What it has to say is short; more would be somebody else's words.
    if (said.length < 1_000) said += chunk.toString();
  });
  control.on('error', ignore);
  return {
    ask: () => void control.write('.'),
    close: () => void control.destroy(),
    endOf(own) {
      const end = reading(said);
      if (end?.error === 'too many processes') return 'tooManyProcesses';
      if (typeof end?.error === 'string') throw notStarted(end.error);
      if (typeof end?.code === 'number' || typeof end?.signal === 'string') {
        return { code: end.code ?? null, signal: end.signal ?? null };
      }
      // A supervisor that says nothing has failed, whatever it ended with.
      return own.code === 0 ? { code: 1, signal: null } : own;
    },
  };
}

interface Said {
  code?: number | null;
  signal?: string | null;
  error?: string;
}

function reading(said: string): Said | null {
  try {
    return JSON.parse(said) as Said | null;
  } catch {
    return null;
  }
}

function notStarted(code: string): Error {
  return Object.assign(new Error('the program could not be started'), { code });
}

/** A supervisor that has gone already needs no telling. */
function ignore(): void {}
