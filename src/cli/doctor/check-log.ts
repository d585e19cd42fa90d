import { compareLog, type StoreAndLog } from '../../actors/records/records.ts';
import { messageOf } from '../../machines/message-of.ts';
import { plainLine } from '../plain-text.ts';
import type { Finding } from './check.ts';

/** Checks that the task store contains every line of its audit log. */
export async function checkLog(subject: StoreAndLog): Promise<Finding> {
  const restore = 'restore the newest copy of the task store, together with its -wal file';
  try {
    const difference = await compareLog(subject);
    if (difference === null) return { status: 'pass', message: 'task store and audit log agree' };
    return { status: 'fail', message: plainLine(difference), fix: restore };
  } catch (error) {
    const reason = messageOf(error);
    return {
      status: 'fail',
      message: plainLine(`${subject.store} cannot be compared with the audit log (${reason})`),
      fix: restore,
    };
  }
}
