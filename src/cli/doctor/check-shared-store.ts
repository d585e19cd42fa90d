import { commandLine } from '../../actors/command-line.ts';
import {
  type LogAddress,
  loadSharedStore,
  StoreError,
  type StoreReport,
  standingBefore,
  verdictSentence,
} from '../../actors/records/records.ts';
import { shellWord } from '../../machines/shell-word.ts';
import { plainLine } from '../plain-text.ts';
import type { Finding } from './check.ts';

/** A finding and the name of its check. */
type Named = [check: string, finding: Finding];

export interface SharedSubject {
  directory: string;
  address: LogAddress;
  /** False if log lines carry no hash of the previous line. */
  isChained: boolean;
}

/**
 * Checks that an agent's PostgreSQL is reachable, belongs to the agent and is intact. Returns one finding per check.
 */
export async function checkSharedStore(subject: SharedSubject): Promise<Named[]> {
  const { address } = subject;
  const { schema } = address;
  try {
    const { examineStore } = await loadSharedStore();
    const report = await examineStore(address);
    if (report === null) {
      const message = `the database answers, and the schema ${schema} has no tables yet`;
      return [['store', { status: 'pass', message }]];
    }
    const { version } = report;
    return [
      [
        'store',
        { status: 'pass', message: `the database answers; ${schema} has store version ${version}` },
      ],
      ['tasks', checkTasks(report)],
      ['daemons', checkDaemons(report)],
      ['audit', await checkLines(subject)],
      ['log', checkHead(report)],
    ];
  } catch (error) {
    return [['store', await unusable(error)]];
  }
}

async function unusable(error: unknown): Promise<Finding> {
  if (!(error instanceof StoreError)) throw error;
  const { DatabaseError } = await loadSharedStore();
  if (!(error instanceof DatabaseError)) return { status: 'fail', message: error.message };
  return { status: 'fail', message: plainLine(error.reason), fix: plainLine(error.remedy) };
}

function checkTasks({ strange }: StoreReport): Finding {
  if (strange === 0) {
    return { status: 'pass', message: 'every task can be continued by this release' };
  }
  return {
    status: 'warn',
    message: `${strange} tasks were saved by another release and can only be continued by it`,
    fix: 'start that release, and decide or cancel them',
  };
}

function checkDaemons({ living, dead, releases }: StoreReport): Finding {
  const atWork = `${living} ${living === 1 ? 'daemon is' : 'daemons are'} at work`;
  if (releases.length > 1) {
    const named = releases.map((release) => release ?? 'an unknown one').join(', ');
    return {
      status: 'warn',
      message: `${atWork}, of several releases (${named})`,
      fix: 'end the upgrade: replace the daemons of the older release',
    };
  }
  if (dead === 0) return { status: 'pass', message: atWork };
  const gone = dead === 1 ? 'one is gone' : `${dead} are gone`;
  return {
    status: 'warn',
    message: `${atWork}, and ${gone} whose tasks are not resumed yet`,
    fix:
      living === 0
        ? 'start a daemon, which resumes them'
        : 'wait some seconds, then look at the logs of the others',
  };
}

async function checkLines({ address, directory, isChained }: SharedSubject): Promise<Finding> {
  if (!isChained) {
    return {
      status: 'warn',
      message: 'audit.chain is off, so a changed log cannot be detected',
      fix: 'set audit.chain: true in service.yaml',
    };
  }
  const { PostgresLog } = await loadSharedStore();
  const log = await PostgresLog.load(address);
  try {
    const first = await log.firstLine();
    const pruned = first === null ? null : standingBefore(first);
    const verdict = await log.verify(pruned === null ? {} : { continuedFrom: pruned.head });
    const since = pruned === null ? '' : `; the ${pruned.count} before them were removed`;
    const message = plainLine(`${verdictSentence(verdict)}${since}`);
    if (verdict.ok) return { status: 'pass', message };
    const fix = commandLine(`audit verify --dir ${shellWord(directory)}`);
    return { status: 'fail', message, fix };
  } finally {
    await log.close();
  }
}

function checkHead({ head, last }: StoreReport): Finding {
  const isSame = head.events === (last?.line ?? 0) && (last === null || last.hash === head.hash);
  if (isSame) return { status: 'pass', message: 'task store and audit log agree' };
  const found = last === null ? 'no line' : `line ${last.line}`;
  return {
    status: 'fail',
    message: `the audit log ends with ${found} where the task store knows ${head.events} lines, or with another last line`,
    fix: 'restore the database from a backup',
  };
}
