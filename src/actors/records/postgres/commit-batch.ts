import type { TaskState } from '../../../machines/domain/task.ts';
import type { AuditEvent } from '../../ports/audit-event.ts';
import type { LineSigner } from '../log/line-signer.ts';
import type { TaskWrite } from '../store/task-store.ts';
import type { JobWriter } from './job-writer.ts';

/** The content of one commit. */
export interface Batch {
  /** Sequence number of the commit within this daemon. */
  number: number;
  writes: readonly TaskWrite[];
  /** Events that belong to no task. */
  events: readonly AuditEvent[];
  /** Time at which a checkpoint was requested; `null` for none. */
  checkpointAt: string | null;
}

/** Ports for writing a commit. */
export interface CommitPorts {
  replica: string;
  /** Notification channel that informs other daemons of the commit. */
  channel: string;
  schema: string;
  /** Number of the table of the tasks that this daemon joined. */
  tables: number;
  /** True if the tables may be a copy that is not settled yet. */
  acceptsCopy: boolean;
  chain: boolean;
  signer: LineSigner | null;
  jobs: JobWriter;
}

/** State of a task before the commit. */
export interface Before {
  id: string;
  revision: number;
  state: TaskState;
  deadline_at: number | null;
  deferral_id: string | null;
  approvers: string | null;
  task: string;
  has_values: number;
  /** The shared values of `task`. */
  shared: string | null;
}
