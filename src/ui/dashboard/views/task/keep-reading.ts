import type { DashboardEvents } from '../../../../http/wire/dashboard/dashboard-events.ts';
import type { Dashboard } from '../../start-dashboard.ts';

/**
 * Reads something at once and again after each event that concerns it, one reading at a time: what changes during one
 * is read by the next. After a gap in the stream it is read too.
 */
export function keepReading(
  { workspace }: Pick<Dashboard, 'workspace'>,
  concerns: (event: DashboardEvents['task']) => boolean,
  read: (signal: AbortSignal) => Promise<void>,
): { now: () => void; stop: () => void } {
  const ended = new AbortController();
  let isReading = false;
  let isStale = false;

  async function now(): Promise<void> {
    isStale = true;
    if (isReading) return;
    isReading = true;
    while (isStale && !ended.signal.aborted) {
      isStale = false;
      await read(ended.signal);
    }
    isReading = false;
  }

  const ofTask = workspace.on('task', (event) => {
    if (concerns(event)) void now();
  });
  let about = workspace.getSnapshot().context.about;
  const ofAll = workspace.subscribe(({ context }) => {
    // The workspace is read whole after a gap in the stream, and only then is this another object.
    if (context.about === about) return;
    const isFirst = about === null;
    about = context.about;
    if (!isFirst) void now();
  });
  void now();
  return {
    now: () => void now(),
    stop: () => {
      ended.abort();
      ofTask.unsubscribe();
      ofAll.unsubscribe();
    },
  };
}
