import { settleCopiedStore } from '../../agent/backup/settle-copied-store.ts';
import { counted } from '../counted.ts';
import type { Session } from '../session.ts';
import { sharedAgent } from './shared-agent.ts';

export interface StoreRestoredOptions {
  dir: string;
  moved?: boolean;
}

/** `store restored`: settles the tables of a stopped agent that were restored to an earlier time, and prints what ended. */
export async function storeRestored(
  session: Session,
  { dir, moved = false }: StoreRestoredOptions,
): Promise<void> {
  const { output } = session;
  const agent = await sharedAgent(session, dir);
  const { schema } = agent.address;
  const restored = await settleCopiedStore({ ...agent, isMoved: moved });
  if (restored === null) {
    output.line(`the tables of ${schema} continue as they are`);
    return output.json({ schema, moved: true });
  }
  const { backupAt, ended, waiting, holds, grants, pushTargets } = restored;
  const at = new Date(backupAt).toISOString();
  output.line(
    `the tables of ${schema} are as of ${at}: ${counted(ended, 'running task')} ended, ${counted(waiting, 'waiting call')} with a warning, ${counted(holds, 'approved call')} not released again, ${counted(grants, 'approval')} for later calls suspended`,
  );
  output.json({
    ...{ schema, moved: false, backup_at: at, tasks_ended: ended },
    ...{
      waiting,
      holds_unaccounted: holds,
      grants_suspended: grants,
      push_targets_deleted: pushTargets,
    },
  });
}
