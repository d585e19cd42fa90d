import type { TaskState } from '../../../machines/task/task.ts';
import type { AuditEvent } from '../../ports.ts';
import type { LineSigner } from '../log/line-signer.ts';
import type { TaskWrite } from '../store/task-store.ts';
import type { JobWriter } from './job-writer.ts';

/** What one commit is to hold. */
export interface Batch {
  /** The number of the commit among those of this daemon. */
  number: number;
  writes: readonly TaskWrite[];
  /** Events that belong to no task. */
  events: readonly AuditEvent[];
  /** When a checkpoint was asked for; `null` for none. */
  checkpointAt: string | null;
}

/** What a commit is written with. */
export interface CommitPorts {
  replica: string;
  /** Where other daemons hear of it. */
  channel: string;
  chain: boolean;
  signer: LineSigner | null;
  jobs: JobWriter;
}

/** What is known of a task before the commit. */
export interface Before {
  id: string;
  revision: number;
  state: TaskState;
  deadline_at: number | null;
  deferral_id: string | null;
  approvers: string | null;
  task: string;
}
