import { once } from 'node:events';
import { open, rm } from 'node:fs/promises';
import {
  csvHeader,
  csvLine,
  type ExportedLine,
  type ExportSummary,
  exportTask,
  ocsfEvent,
  type TakeLine,
} from '../../actors/records/records.ts';
import { codeOf } from '../../machines/error-code.ts';
import { version } from '../../version.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { rangeOf } from '../option-values.ts';
import type { TerminalStream } from '../output.ts';
import { plainLine } from '../plain-text.ts';
import { showProgress } from '../progress.ts';
import type { Session } from '../session.ts';
import { auditSourceOf, withLog } from './audit-source.ts';
import type { ExportFormat } from './export-formats.ts';

export interface AuditExportOptions {
  task?: string;
  from?: string;
  to?: string;
  dir?: string;
  file?: string;
  output?: string;
  proof?: boolean;
  format?: ExportFormat;
}

/**
 * `audit export`: exports the lines of a task, of a range of time, or both, exactly as they are in the log, across all
 * its files, or as CSV or OCSF. With --proof, exports one JSON document with each line's position and hash, the length of the log and its last hash.
 * Writes nothing if no line matches, and no proof unless the chain is intact.
 */
export async function auditExport(session: Session, options: AuditExportOptions): Promise<void> {
  const { task = null, from, to, dir, file, format = 'ndjson' } = options;
  const { proof: withProof = false } = options;
  if (task === null && from === undefined && to === undefined) throw unbounded();
  if (withProof && format !== 'ndjson') throw unprovable();
  const exporting = { task, withProof, ...rangeOf({ from, to }) };
  const source = file === undefined ? await auditSourceOf(dir, session) : { path: file };
  if ('path' in source) {
    await writeOut(session, (take) => exportTask({ ...source, ...exporting }, take), options);
    return;
  }
  await withLog(source.address, async (log) => {
    await log.check();
    await writeOut(session, (take) => log.exportTask(exporting, take), options);
  });
}

/** Reads the log from its first line and passes on the wanted lines. */
type ReadLog = (take: TakeLine) => Promise<ExportSummary>;

async function writeOut(
  session: Session,
  read: ReadLog,
  options: AuditExportOptions,
): Promise<void> {
  const { output: target, proof: withProof = false } = options;
  const task = options.task ?? null;
  const { output, interruption } = session;
  const signal = interruption.listen();
  const stop = showProgress(output, 'reading the log');
  // A proof needs an intact log, anything else only one line.
  const look = async (): Promise<boolean> => {
    signal.throwIfAborted();
    return withProof;
  };
  refuse(await read(look).finally(stop), task);
  const sink = target === undefined ? sinkOf(output.stdout, signal) : await openNewFile(target);
  try {
    const form = withProof ? proofForm(task) : forms[options.format ?? 'ndjson'];
    await sink.write(form.head);
    const summary = await read(async (line) => {
      signal.throwIfAborted();
      await sink.write(form.line(line));
      return true;
    });
    await sink.write(form.tail(summary));
    await sink.close();
    if (target === undefined) return;
    const { exported: events } = summary;
    output.line(
      plainLine(`${events} event${events === 1 ? '' : 's'}${ofTask(task)} written to ${target}`),
    );
    output.json({ ...(task === null ? {} : { task_id: task }), events, file: target });
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

function ofTask(task: string | null): string {
  return task === null ? '' : ` of task ${task}`;
}

/** The format of an export; `line` is called in log order. */
interface ExportForm {
  head: string;
  line(line: ExportedLine): string | Buffer;
  tail(summary: ExportSummary): string;
}

const forms: Readonly<Record<ExportFormat, ExportForm>> = {
  ndjson: {
    head: '',
    line: ({ bytes }) => Buffer.concat([bytes, Buffer.from('\n')]),
    tail: () => '',
  },
  csv: { head: csvHeader, line: ({ bytes }) => csvLine(bytes), tail: () => '' },
  ocsf: {
    head: '',
    line: ({ bytes }) => `${JSON.stringify(ocsfEvent(bytes, version))}\n`,
    tail: () => '',
  },
};

function proofForm(task: string | null): ExportForm {
  let separator = '';
  const named = task === null ? '' : `"task_id":${JSON.stringify(task)},`;
  return {
    head: `{${named}"lines":[`,
    line({ file, lineNumber, sha256, bytes }) {
      const line = new TextDecoder().decode(bytes);
      const place = { file, line_number: lineNumber, sha256, line };
      const text = `${separator}\n${JSON.stringify(place)}`;
      separator = ',';
      return text;
    },
    tail: ({ head, count }) => `\n],"head":"${head}","count":${count}}\n`,
  };
}

function unbounded(): CliError {
  return new CliError('an export needs --task, --from or --to', {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'name a task, or a range of time such as --from 7d',
  });
}

function unprovable(): CliError {
  return new CliError('--proof and --format exclude each other', {
    code: 'usage',
    exitCode: exitCodes.usage,
    hint: 'a proof is a JSON document of its own',
  });
}

function refuse({ exported, broken }: ExportSummary, task: string | null): void {
  if (exported === 0) {
    throw new CliError(
      plainLine(`the log holds no event${ofTask(task)}${task === null ? ' of this time' : ''}`),
      {
        code: 'not_found',
        exitCode: exitCodes.notFound,
        hint: `check the ${task === null ? 'range' : 'id'}, and name another log with --dir or --file`,
      },
    );
  }
  if (broken === null) return;
  throw new CliError(plainLine(`${broken.file}:${broken.lineNumber} breaks the chain`), {
    code: 'audit_broken',
    exitCode: exitCodes.auditBroken,
    hint: 'a proof needs an intact log; run audit verify to see what is wrong, or leave out --proof',
  });
}

/** The destination of an export. */
interface Sink {
  write(data: string | Uint8Array): Promise<void>;
  close(): Promise<void>;
  /** Removes an incomplete export. */
  discard(): Promise<void>;
}

/** Returns a sink that writes to a stream with backpressure. */
function sinkOf(stream: TerminalStream, signal: AbortSignal): Sink {
  return {
    async write(data) {
      signal.throwIfAborted();
      if (data.length > 0 && !stream.write(data)) await once(stream, 'drain', { signal });
    },
    close: async () => undefined,
    discard: async () => undefined,
  };
}

/** Creates a new file, readable by its owner alone. Throws CliError if the file exists. */
export async function openNewFile(path: string): Promise<Sink> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    const isThere = codeOf(error) === 'EEXIST';
    throw new CliError(plainLine(`${path} ${isThere ? 'is there already' : 'cannot be written'}`), {
      code: 'cannot_write',
      hint: 'name another file with -o',
      cause: error,
    });
  });
  return {
    write: (data) => handle.appendFile(data),
    close: () => handle.close(),
    async discard() {
      await handle.close();
      await rm(path, { force: true });
    },
  };
}
